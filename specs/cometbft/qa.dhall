-- The QA report: a testnet under load.
let S = ../schema/package.dhall

let B = S.block

let R = S.report

let constant = (./source.dhall).constant

let c = (./relations.dhall).column

let grains = ./grains.dhall

let m = ./metrics.dhall

let s = ./series.dhall

let sampled = ./sampled.dhall

let n = sampled.metric

let setting = [ c.connections.name, c.rate.name ]

-- Experiments whose series are shown: each has a time range.
let experiment =
      B.Choice::{
      , name = ""
      , title = ""
      , grain = grains.experiment.name
      , first = c.number.name
      , label = [ c.number.name ] # setting
      , time = Some { begin = c.from.name, end = c.to.name }
      , absent = ""
      }

-- Percent by which a result may be below the expected value, or worse than the baseline.
let tolerance = 10

let fault =
          experiment
      //  { name = "fault"
          , title = "Experiment with a fault"
          , pins = [ B.pin c.number constant.fault ]
          , absent = "no experiment with a fault (meta.json: experiments, fault)"
          }

let withoutFault = experiment // { without = [ fault.name ] }

let measured =
      withoutFault // { keys = setting, done = Some m.validTxs.id, due = Some m.expected.id, tolerance }

let chosen =
          measured
      //  { name = "chosen"
          , title = "Chosen experiment"
          , pins = [ B.pin c.number constant.chosen ]
          , most = Some m.validTxs.id
          , absent = "no experiment without a fault that is not saturated"
          }

let overload =
          measured
      //  { name = "overload"
          , title = "Overloaded experiment"
          , pins = [ B.pin c.number constant.overload ]
          , most = Some m.expected.id
          , short = True
          , absent = "no experiment without a fault that is saturated"
          }

let heaviest =
          withoutFault
      //  { name = "heaviest"
          , title = "Heaviest experiment"
          , most = Some m.expected.id
          , absent = "no experiment"
          , repeats = setting
          }

let rotation =
      B.Choice::{
      , name = "rotation"
      , title = "Rotating nodes"
      , grain = grains.rotation.name
      , first = c.name.name
      , label = [] : List Text
      , time = Some { begin = c.from.name, end = c.to.name }
      , absent = "no rotating nodes (jobs whose names begin with ephemeral)"
      }

let choices = [ chosen, overload, fault, heaviest, rotation ]

let lines = \(title : Text) -> \(series : S.Series.Type) -> B.lines title series "job"

let linesAndMean = \(title : Text) -> \(series : S.Series.Type) -> B.linesAndMean title series "job"

let mempool = B.stack "Mempool size" s.mempoolSize "job"

let rates = [ linesAndMean "Block rate" s.blockRate, linesAndMean "Transaction rate" s.totalTxsRate ]

let rounds = lines "Rounds" s.rounds

let heights = lines "Heights" s.heights

-- Figures of the nodes' metrics, as in the published QA documents.
let plots =
        [ mempool, B.meanOnly "Average mempool size" s.mempoolSize, linesAndMean "Peers" s.peers, rounds ]
      # rates
      # [ lines "Resident memory" s.memory
        , B.meanOnly "Average resident memory" s.memory
        , lines "Load average" s.cpu
        , B.meanOnly "Average load average" s.cpu
        ]

let latencies =
      B.scatter
        { title = "Latency"
        , grain = grains.transaction
        , per = c.experiment
        , of = grains.experiment
        , label = [ c.number, c.connections, c.rate ]
        , keys = [ c.connections, c.rate ]
        , x = m.sinceStart
        , y = m.latency
        }

let verdict =
      \(scenario : Text) ->
      \(title : Text) ->
        B.verdict
          { scenario
          , title
          , grain = grains.experiment
          , keys = [ c.connections, c.rate ]
          , first = c.number
          , metrics = [ m.validTxs, m.throughput, m.average, m.greatest ]
          , tolerance
          }

let pivot =
      B.pivot
        { title = "Transactions in blocks, by rate (rows) and connections (columns)"
        , grain = grains.experiment
        , down = c.rate
        , across = c.connections
        , metric = m.validTxs
        , first = c.number
        , due = m.expected
        , tolerance
        }

let experiments = \(title : Text) -> B.listing title grains.experiment [ c.number, c.connections, c.rate ]

let ofJobs = \(title : Text) -> \(grain : S.Grain.Type) -> B.listing title grain [ sampled.column.job ]

let sections =
      [ R.section "Load" [ m.validTxs, m.throughput ]
      , R.section "Latency" [ m.latency ]
      , R.section "Blocks" [ m.interval, m.catchingUp, m.complaints ]
      , R.section "Nodes" [ n.blockRate, n.mempoolSize, n.mostMemory, n.averageLoad ]
      ]

-- The parts of the report, shared with the report on several testnets.
let part =
      { saturation =
          B.part
            "Saturation point"
            (   B.prose "prose/saturation.md"
              # B.pivots [ B.withChoice chosen (B.withDiagonals (B.pivotWithout [ fault ] pivot)) ]
              # B.listings [ experiments "Experiments" [ m.validTxs, m.expected, m.throughput ] ]
            )
      , latencies =
          B.part
            "Latencies"
            (   B.prose "prose/latencies.md"
              # B.scatters [ latencies ]
              # B.listings
                  [ experiments
                      "Latencies of the experiments"
                      [ m.least, m.average, m.greatest, m.deviation, m.negative ]
                  ]
            )
      , nodes =
          B.part
            "Metrics of the nodes"
            (   B.prose "prose/nodes.md"
              # B.timelines (B.during chosen plots)
              # B.listings
                  [ ofJobs
                      "Samples of the nodes"
                      sampled.grain.node
                      [ n.leastPeers, n.mostPeers, n.highestRound, n.blockRate, n.mempoolSize, n.mostMemory ]
                  , ofJobs "Load of the machines" sampled.grain.machine [ n.averageLoad, n.highestLoad ]
                  ]
              # B.averagesTables
                  [ B.averagesDuring
                      chosen
                      ( B.averages
                          "Average resident memory with and without exporter processes"
                          [ s.memory, s.nodeMemory ]
                      )
                  ]
            )
      , overload = B.part "Overload" (B.prose "prose/overload.md" # B.timelines (B.during overload plots))
      , fault = B.part "Fault" (B.prose "prose/fault.md" # B.timelines (B.during fault (plots # [ heights ])))
      , rotating =
          B.part
            "Rotating nodes"
            (   B.prose "prose/rotating.md"
              # B.timelines (B.during rotation ([ lines "Heights of rotating nodes" s.rotatingHeights ] # plots))
            )
      , wholeRun =
          B.part
            "All experiments"
            (   B.prose "prose/all.md"
              # B.scatters
                  [ B.scatter
                      { title = "Latency of all experiments"
                      , grain = grains.runTransaction
                      , per = c.name
                      , of = grains.window
                      , label = [] : List S.Column
                      , keys = [ c.name ]
                      , x = m.sinceBegin
                      , y = m.runLatency
                      }
                  ]
              # B.timelines ([ mempool ] # rates # [ heights ])
            )
      , logs =
          B.part
            "Logs of the nodes"
            (   B.prose "prose/logs.md"
              # B.scatters
                  [ B.scatter
                      { title = "Block interval"
                      , grain = grains.nodeBlock
                      , per = c.node
                      , of = grains.node
                      , label = [ c.node ]
                      , keys = [ c.node ]
                      , x = m.height
                      , y = m.interval
                      }
                  ]
              # B.listings
                  [ B.listing
                      "Blocks of the nodes"
                      grains.node
                      [ c.node ]
                      [ m.starts, m.catchingUp, m.blocks, m.blocksCaughtUp
                      , m.intervalAverage, m.intervalGreatest, m.proposals, m.complaints
                      ]
                  ]
            )
      , extensions =
          B.part
            "Vote extensions"
            (   B.prose "prose/extensions.md"
              # B.grids
                  [ B.grid
                      "Cases of vote extensions"
                      heaviest
                      [ latencies ]
                      (   rates
                        # [ rounds
                          , linesAndMean "Load average" s.cpu
                          , linesAndMean "Memory" s.memory
                          , linesAndMean "Mempool" s.mempoolSize
                          ]
                      )
                  ]
            )
        -- What the first page judges in a group of runs; the report on one testnet has it in its sections.
      , averages = B.part "Averages" (B.sections sections)
      }

let results =
      B.part
        "Results"
        (   B.prose "prose/results.md"
          # B.verdicts
              [ B.verdictWithout
                  [ fault ]
                  (verdict "Load: every configuration" "Experiments compared with the baseline")
              , B.verdictOf chosen (verdict "Load: chosen experiment" "Chosen experiment compared with the baseline")
              , B.verdictOf overload (verdict "Overload" "Overloaded experiment compared with the baseline")
              , B.verdictOf fault (verdict "Fault" "Experiment with a fault compared with the baseline")
              ]
        )

let qa =
      S.Report::{
      , name = "qa"
      , title = "QA results of {last}"
      , intro = "Load tests of {last} on a testnet: saturation point, latencies and metrics of the nodes."
      , sections
      , choices
      , cases = Some constant.extensions.name
      , parts =
        [ part.saturation
        , part.latencies
        , part.nodes
        , part.overload
        , part.fault
        , part.rotating
        , part.wholeRun
        , part.logs
        , part.extensions
        , results
        ]
      , label = constant.ident.name
      , observations = Some (./observations.dhall).qa
      , doc = "QA results of a testnet under load"
      }

in  { qa, choices, chosen, fault, verdict, part }
