-- The QA report: what a testnet does under load.
let S = ../schema/package.dhall

let A = S.article

let constant = (./source.dhall).constant

let c = (./relations.dhall).column

let grains = ./grains.dhall

let m = ./metrics.dhall

let s = ./series.dhall

let part = A.Part

let qa =
      S.Article::{
      , name = "qa"
      , title = "QA results of {base}"
      , intro = "What a testnet of {base} does under load: the point at which it saturates, latencies, and the metrics of its nodes."
      , parts =
        [ part::{ title = "Issues", prose = "prose/issues.md" }
        , part::{
          , title = "Saturation point"
          , prose = "prose/saturation.md"
          , pivots =
            [ A.pivot
                { title = "Transactions found in blocks, by rate (rows) and connections (columns)"
                , grain = grains.experiment
                , down = c.rate
                , across = c.connections
                , metric = m.validTxs
                , first = c.number
                , due = m.expected
                , tolerance = 10
                }
            ]
          , listings =
            [ A.listing
                "Experiments"
                grains.experiment
                [ c.number, c.connections, c.rate ]
                [ m.validTxs, m.expected, m.throughput ]
            ]
          }
        , part::{
          , title = "Latencies"
          , prose = "prose/latencies.md"
          , listings =
            [ A.listing
                "Latencies of the experiments"
                grains.experiment
                [ c.number, c.connections, c.rate ]
                [ m.least, m.average, m.greatest, m.deviation, m.negative ]
            ]
          , scatters =
            [ A.scatter
                { title = "Latency"
                , grain = grains.transaction
                , per = c.experiment
                , of = grains.experiment
                , label = [ c.number, c.connections, c.rate ]
                , x = m.sinceStart
                , y = m.latency
                }
            ]
          }
        , part::{
          , title = "Metrics of the nodes"
          , prose = "prose/nodes.md"
          , timelines =
            [ A.lines "Mempool size" s.mempoolSize "job"
            , A.meanOnly "Average mempool size" s.mempoolSize
            , A.linesAndMean "Peers" s.peers "job"
            , A.lines "Rounds" s.rounds "job"
            , A.linesAndMean "Block rate" s.blockRate "job"
            , A.linesAndMean "Transaction rate" s.totalTxsRate "job"
            , A.lines "Resident memory" s.memory "job"
            , A.meanOnly "Average resident memory" s.memory
            , A.lines "Load average" s.cpu "job"
            , A.meanOnly "Average load average" s.cpu
            , A.lines "Heights" s.heights "job"
            ]
          , averages =
            [ A.averages "Average resident memory with and without the exporters' processes" [ s.memory, s.nodeMemory ] ]
          }
        , part::{
          , title = "Results"
          , prose = "prose/results.md"
          , verdicts =
            [ A.verdict
                "Experiments beside those of the baseline"
                grains.experiment
                [ c.connections, c.rate ]
                [ m.validTxs, m.throughput, m.average, m.greatest ]
                10
            ]
          }
        ]
      , style = "typst-2026"
      , label = constant.ident.name
      , doc = "What a testnet does under load"
      }

in  { qa }
