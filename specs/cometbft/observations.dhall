-- What QA reports say of their tables: levels and bounds of nodes, trends over cases, likeness to the baseline.
let S = ../schema/package.dhall

let O = S.observation

let m = ./metrics.dhall

let n = (./sampled.dhall).metric

let level = \(name : Text) -> \(metric : S.Metric.Type) -> O.level [ metric ] // { name }

let rounds = "The highest round is below {bound} on {share} nodes: {level}"

let load = "The load average is below {bound} on {share} machines: {level}"

let common =
      [ O.group
          "Experiments"
          ""
          [ level "The average latency of an experiment" m.average
          , level "The greatest latency of an experiment" m.greatest
          , O.slower (O.trend "the order of experiments" [ m.average ])
          ]
      , O.group
          "Nodes"
          ""
          [ O.mostlyBelow "5" [ n.highestLoad ] // { text = load }
          , O.level [ n.leastPeers ] // { text = "Each node has at least {least}" }
          , O.mostlyBelow "2" [ n.highestRound ] // { text = rounds }
          , level "The average block rate of a node" n.blockRate
          , level "The average mempool of a node" n.mempoolSize
          , O.level [ n.mostMemory ] // { text = "The resident memory of a node is at most {greatest}" }
          , level "The time that a node takes to catch up" m.catchingUp
          , level "The average block interval of a node" m.intervalAverage
          , level "The greatest block interval of a node" m.intervalGreatest
          , level "The number of errors of a node" m.complaints
          ]
      , O.group
          "Comparison with the baseline"
          ""
          [     O.alike "10" [ m.validTxs, m.throughput, m.average, m.greatest ]
            //  { text = "{name}: no experiment of {run} differs from {base} by more than {greatest}" }
          ]
      ]

let size = "the size of vote extensions"

let extensions =
      O.group
        "Vote extensions"
        ""
        [ O.slower (O.trendOfRuns size [ m.runLatency ])
        , O.trendOfRuns size [ n.highestRound, n.blockRate, n.mostMemory ]
        ]

in  { qa = S.Observations::{ groups = common }
    , testnets = S.Observations::{ groups = common # [ extensions ], plurals = O.plurals [ m.validTxs ] }
    }
