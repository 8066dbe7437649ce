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

let part = B.Part

let configuration = [ c.number.name, c.connections.name, c.rate.name ]

-- Experiments whose series are shown: each has a time range.
let experiment =
      B.Choice::{
      , name = ""
      , title = ""
      , grain = grains.experiment.name
      , first = c.number.name
      , label = configuration
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

let chosen =
          experiment
      //  { name = "chosen"
          , title = "Chosen experiment"
          , keys = [ c.connections.name, c.rate.name ]
          , pins = [ B.pin c.number constant.chosen ]
          , most = Some m.validTxs.id
          , done = Some m.validTxs.id
          , due = Some m.expected.id
          , tolerance
          , absent = "no experiment without a fault that is not saturated"
          , without = [ fault.name ]
          }

let overload =
          experiment
      //  { name = "overload"
          , title = "Overloaded experiment"
          , keys = [ c.connections.name, c.rate.name ]
          , pins = [ B.pin c.number constant.overload ]
          , most = Some m.expected.id
          , done = Some m.validTxs.id
          , due = Some m.expected.id
          , tolerance
          , short = True
          , absent = "no experiment without a fault that is saturated"
          , without = [ fault.name ]
          }

let heaviest =
          experiment
      //  { name = "heaviest"
          , title = "Heaviest experiment"
          , most = Some m.expected.id
          , absent = "no experiment"
          , without = [ fault.name ]
          , repeats = [ c.connections.name, c.rate.name ]
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

-- Figures of the nodes' metrics, as in the published QA documents.
let plots =
      [ B.stack "Mempool size" s.mempoolSize "job"
      , B.meanOnly "Average mempool size" s.mempoolSize
      , B.linesAndMean "Peers" s.peers "job"
      , B.lines "Rounds" s.rounds "job"
      , B.linesAndMean "Block rate" s.blockRate "job"
      , B.linesAndMean "Transaction rate" s.totalTxsRate "job"
      , B.lines "Resident memory" s.memory "job"
      , B.meanOnly "Average resident memory" s.memory
      , B.lines "Load average" s.cpu "job"
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

let judged = [ m.validTxs, m.throughput, m.average, m.greatest ]

let verdict =
      \(scenario : Text) ->
      \(title : Text) ->
        B.verdict
          { scenario
          , title
          , grain = grains.experiment
          , keys = [ c.connections, c.rate ]
          , first = c.number
          , metrics = judged
          , tolerance
          }

-- The parts of the report, shared with the report on several testnets.
let saturation =
      part::{
      , title = "Saturation point"
      , blocks =
            B.prose "prose/saturation.md"
          # B.pivots
              [ B.withChoice
                  chosen
                  ( B.withDiagonals
                      ( B.pivotWithout
                          [ fault ]
                          ( B.pivot
                              { title = "Transactions in blocks, by rate (rows) and connections (columns)"
                              , grain = grains.experiment
                              , down = c.rate
                              , across = c.connections
                              , metric = m.validTxs
                              , first = c.number
                              , due = m.expected
                              , tolerance
                              }
                          )
                      )
                  )
              ]
          # B.listings
              [ B.listing
                  "Experiments"
                  grains.experiment
                  [ c.number, c.connections, c.rate ]
                  [ m.validTxs, m.expected, m.throughput ]
              ]
      }

let latencyPart =
      part::{
      , title = "Latencies"
      , blocks =
            B.prose "prose/latencies.md"
          # B.scatters [ latencies ]
          # B.listings
              [ B.listing
                  "Latencies of the experiments"
                  grains.experiment
                  [ c.number, c.connections, c.rate ]
                  [ m.least, m.average, m.greatest, m.deviation, m.negative ]
              ]
      }

let nodes =
      part::{
      , title = "Metrics of the nodes"
      , blocks =
            B.prose "prose/nodes.md"
          # B.timelines (B.during chosen plots)
          # B.listings
              [ B.listing
                  "Samples of the nodes"
                  sampled.grain.node
                  [ sampled.column.job ]
                  [ n.leastPeers, n.mostPeers, n.highestRound, n.blockRate, n.mempoolSize, n.mostMemory ]
              , B.listing
                  "Load of the machines"
                  sampled.grain.machine
                  [ sampled.column.job ]
                  [ n.averageLoad, n.highestLoad ]
              ]
          # B.averagesTables
              [ B.averagesDuring
                  chosen
                  ( B.averages
                      "Average resident memory with and without exporter processes"
                      [ s.memory, s.nodeMemory ]
                  )
              ]
      }

let overloadPart =
      part::{ title = "Overload", blocks = B.prose "prose/overload.md" # B.timelines (B.during overload plots) }

let faultPart =
      part::{
      , title = "Fault"
      , blocks =
            B.prose "prose/fault.md"
          # B.timelines (B.during fault (plots # [ B.lines "Heights" s.heights "job" ]))
      }

let rotating =
      part::{
      , title = "Rotating nodes"
      , blocks =
            B.prose "prose/rotating.md"
          # B.timelines (B.during rotation ([ B.lines "Heights of rotating nodes" s.rotatingHeights "job" ] # plots))
      }

let wholeRun =
      part::{
      , title = "All experiments"
      , blocks =
            B.prose "prose/all.md"
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
          # B.timelines
              [ B.stack "Mempool size" s.mempoolSize "job"
              , B.linesAndMean "Block rate" s.blockRate "job"
              , B.linesAndMean "Transaction rate" s.totalTxsRate "job"
              , B.lines "Heights" s.heights "job"
              ]
      }

let logs =
      part::{
      , title = "Logs of the nodes"
      , blocks =
            B.prose "prose/logs.md"
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
                  [ m.starts
                  , m.catchingUp
                  , m.blocks
                  , m.blocksCaughtUp
                  , m.intervalAverage
                  , m.intervalGreatest
                  , m.proposals
                  , m.complaints
                  ]
              ]
      }

let extensions =
      part::{
      , title = "Vote extensions"
      , blocks =
            B.prose "prose/extensions.md"
          # B.grids
              [ B.grid
                  "Cases of vote extensions"
                  heaviest
                  [ latencies ]
                  [ B.linesAndMean "Block rate" s.blockRate "job"
                  , B.linesAndMean "Transaction rate" s.totalTxsRate "job"
                  , B.lines "Rounds" s.rounds "job"
                  , B.linesAndMean "Load average" s.cpu "job"
                  , B.linesAndMean "Memory" s.memory "job"
                  , B.linesAndMean "Mempool" s.mempoolSize "job"
                  ]
              ]
      }

-- What the first page judges in a group of runs; the report on one testnet has it in its sections.
let averages =
      part::{
      , title = "Averages"
      , blocks =
          B.sections
            [ R.section "Load" [ m.validTxs, m.throughput ]
            , R.section "Latency" [ m.latency ]
            , R.section "Blocks" [ m.interval, m.catchingUp, m.complaints ]
            , R.section "Nodes" [ n.blockRate, n.mempoolSize, n.mostMemory, n.averageLoad ]
            ]
      }

let qa =
      S.Report::{
      , name = "qa"
      , title = "QA results of {last}"
      , intro = "Load tests of {last} on a testnet: saturation point, latencies and metrics of the nodes."
      , sections =
        [ R.section "Load" [ m.validTxs, m.throughput ]
        , R.section "Latency" [ m.latency ]
        , R.section "Blocks" [ m.interval, m.catchingUp, m.complaints ]
        , R.section "Nodes" [ n.blockRate, n.mempoolSize, n.mostMemory, n.averageLoad ]
        ]
      , choices
      , cases = Some constant.extensions.name
      , parts =
        [ saturation
        , latencyPart
        , nodes
        , overloadPart
        , faultPart
        , rotating
        , wholeRun
        , logs
        , extensions
        , part::{
          , title = "Results"
          , blocks =
                B.prose "prose/results.md"
              # B.verdicts
                  [ B.verdictWithout
                      [ fault ]
                      (verdict "Load: every configuration" "Experiments compared with the baseline")
                  , B.verdictOf chosen (verdict "Load: chosen experiment" "Chosen experiment compared with the baseline")
                  , B.verdictOf overload (verdict "Overload" "Overloaded experiment compared with the baseline")
                  , B.verdictOf fault (verdict "Fault" "Experiment with a fault compared with the baseline")
                  ]
          }
        ]
      , style = "prefixed"
      , label = constant.ident.name
      , observations = Some (./observations.dhall).qa
      , doc = "QA results of a testnet under load"
      }

in  { qa
    , choices
    , chosen
    , fault
    , verdict
    , part =
      { saturation
      , latencies = latencyPart
      , nodes
      , overload = overloadPart
      , fault = faultPart
      , rotating
      , wholeRun
      , logs
      , extensions
      , averages
      }
    }
