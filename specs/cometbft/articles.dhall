-- The QA report: a testnet under load.
let S = ../schema/package.dhall

let A = S.article

let constant = (./source.dhall).constant

let c = (./relations.dhall).column

let grains = ./grains.dhall

let m = ./metrics.dhall

let s = ./series.dhall

let sampled = ./sampled.dhall

let n = sampled.metric

let part = A.Part

let configuration = [ c.number.name, c.connections.name, c.rate.name ]

-- Experiments whose series are shown: each has a time range.
let experiment =
      A.Choice::{
      , name = ""
      , title = ""
      , grain = grains.experiment.name
      , first = c.number.name
      , label = configuration
      , begin = c.from.name
      , end = c.to.name
      , absent = ""
      }

-- Percent by which a result may be below the expected value, or worse than the baseline.
let tolerance = 10

let fault =
          experiment
      //  { name = "fault"
          , title = "Experiment with a fault"
          , pins = [ A.pin c.number constant.fault ]
          , absent = "no experiment with a fault (meta.json: experiments, fault)"
          }

let chosen =
          experiment
      //  { name = "chosen"
          , title = "Chosen experiment"
          , keys = [ c.connections.name, c.rate.name ]
          , pins = [ A.pin c.number constant.chosen ]
          , most = m.validTxs.id
          , done = m.validTxs.id
          , due = m.expected.id
          , tolerance
          , absent = "no experiment without a fault that is not saturated"
          , without = [ fault.name ]
          }

let overload =
          experiment
      //  { name = "overload"
          , title = "Overloaded experiment"
          , keys = [ c.connections.name, c.rate.name ]
          , pins = [ A.pin c.number constant.overload ]
          , most = m.expected.id
          , done = m.validTxs.id
          , due = m.expected.id
          , tolerance
          , short = True
          , absent = "no experiment without a fault that is saturated"
          , without = [ fault.name ]
          }

let heaviest =
          experiment
      //  { name = "heaviest"
          , title = "Heaviest experiment"
          , most = m.expected.id
          , absent = "no experiment"
          , without = [ fault.name ]
          , repeats = [ c.connections.name, c.rate.name ]
          }

let rotation =
      A.Choice::{
      , name = "rotation"
      , title = "Rotating nodes"
      , grain = grains.rotation.name
      , first = c.name.name
      , label = [] : List Text
      , begin = c.from.name
      , end = c.to.name
      , absent = "no rotating nodes (jobs whose names begin with ephemeral)"
      }

let choices = [ chosen, overload, fault, heaviest, rotation ]

-- Figures of the nodes' metrics, as in the published QA documents.
let plots =
      [ A.stack "Mempool size" s.mempoolSize "job"
      , A.meanOnly "Average mempool size" s.mempoolSize
      , A.linesAndMean "Peers" s.peers "job"
      , A.lines "Rounds" s.rounds "job"
      , A.linesAndMean "Block rate" s.blockRate "job"
      , A.linesAndMean "Transaction rate" s.totalTxsRate "job"
      , A.lines "Resident memory" s.memory "job"
      , A.meanOnly "Average resident memory" s.memory
      , A.lines "Load average" s.cpu "job"
      , A.meanOnly "Average load average" s.cpu
      ]

let latencies =
      A.scatter
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
        A.verdict
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
      , prose = "prose/saturation.md"
      , pivots =
        [ A.withChoice
            chosen
            ( A.withDiagonals
                ( A.pivotWithout
                    [ fault ]
                    ( A.pivot
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
      , listings =
        [ A.listing
            "Experiments"
            grains.experiment
            [ c.number, c.connections, c.rate ]
            [ m.validTxs, m.expected, m.throughput ]
        ]
      }

let latencyPart =
      part::{
      , title = "Latencies"
      , prose = "prose/latencies.md"
      , listings =
        [ A.listing
            "Latencies of the experiments"
            grains.experiment
            [ c.number, c.connections, c.rate ]
            [ m.least, m.average, m.greatest, m.deviation, m.negative ]
        ]
      , scatters = [ latencies ]
      }

let nodes =
      part::{
      , title = "Metrics of the nodes"
      , prose = "prose/nodes.md"
      , timelines = A.during chosen plots
      , listings =
        [ A.listing
            "Samples of the nodes"
            sampled.grain.node
            [ sampled.column.job ]
            [ n.leastPeers, n.mostPeers, n.highestRound, n.blockRate, n.mempoolSize, n.mostMemory ]
        , A.listing
            "Load of the machines"
            sampled.grain.machine
            [ sampled.column.job ]
            [ n.averageLoad, n.highestLoad ]
        ]
      , averages =
        [ A.averagesDuring
            chosen
            ( A.averages
                "Average resident memory with and without exporter processes"
                [ s.memory, s.nodeMemory ]
            )
        ]
      }

let overloadPart =
      part::{ title = "Overload", prose = "prose/overload.md", timelines = A.during overload plots }

let faultPart =
      part::{
      , title = "Fault"
      , prose = "prose/fault.md"
      , timelines = A.during fault (plots # [ A.lines "Heights" s.heights "job" ])
      }

let rotating =
      part::{
      , title = "Rotating nodes"
      , prose = "prose/rotating.md"
      , timelines = A.during rotation ([ A.lines "Heights of rotating nodes" s.rotatingHeights "job" ] # plots)
      }

let wholeRun =
      part::{
      , title = "All experiments"
      , prose = "prose/all.md"
      , scatters =
        [ A.scatter
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
      , timelines =
        [ A.stack "Mempool size" s.mempoolSize "job"
        , A.linesAndMean "Block rate" s.blockRate "job"
        , A.linesAndMean "Transaction rate" s.totalTxsRate "job"
        , A.lines "Heights" s.heights "job"
        ]
      }

let logs =
      part::{
      , title = "Logs of the nodes"
      , prose = "prose/logs.md"
      , listings =
        [ A.listing
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
      , scatters =
        [ A.scatter
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
      }

let extensions =
      part::{
      , title = "Vote extensions"
      , prose = "prose/extensions.md"
      , grids =
        [ A.grid
            "Cases of vote extensions"
            heaviest
            [ latencies ]
            [ A.linesAndMean "Block rate" s.blockRate "job"
            , A.linesAndMean "Transaction rate" s.totalTxsRate "job"
            , A.lines "Rounds" s.rounds "job"
            , A.linesAndMean "Load average" s.cpu "job"
            , A.linesAndMean "Memory" s.memory "job"
            , A.linesAndMean "Mempool" s.mempoolSize "job"
            ]
        ]
      }

let qa =
      S.Article::{
      , name = "qa"
      , title = "QA results of {last}"
      , intro = "Load tests of {last} on a testnet: saturation point, latencies and metrics of the nodes."
      , choices
      , cases = constant.extensions.name
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
          , prose = "prose/results.md"
          , verdicts =
            [ A.verdictWithout
                [ fault ]
                (verdict "Load: every configuration" "Experiments compared with the baseline")
            , A.verdictOf chosen (verdict "Load: chosen experiment" "Chosen experiment compared with the baseline")
            , A.verdictOf overload (verdict "Overload" "Overloaded experiment compared with the baseline")
            , A.verdictOf fault (verdict "Fault" "Experiment with a fault compared with the baseline")
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
      }
    }
