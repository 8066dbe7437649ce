-- The report of a run of the performance harness.
let S = ../schema/package.dhall

let B = S.block

let constant = (./samples.dhall).constant

let c = (./harness/relations.dhall).column

let grains = ./harness/grains.dhall

let m = ./harness/metrics.dhall

let listed = ./harness/listed.dhall

let part = B.Part

let harness =
      S.Report::{
      , name = "harness"
      , title = "Performance harness: {base}"
      , intro = "Throughput, block statistics and the verdict of a load test, from the log of one node."
      , sections =
        [ S.report.section "Throughput" [ m.pairTps ]
        , S.report.section "Blocks of the analysis window" [ m.blockLatency, m.blockTime, m.blockElapsed, m.blockCpu ]
        ]
      , parts =
        [ part::{
          , title = "Verdict"
          , blocks =
                B.prose "prose/verdict.md"
              # B.listings
                  [ B.listing
                      "Result"
                      grains.verdict
                      [ c.host, c.completed, c.tpsExpectation, c.trxExpectation, c.successful, c.result ]
                      [ m.targetTps, m.reachedTps, m.expected, m.counted ]
                  ]
          }
        , part::{
          , title = "Blocks and the analysis window"
          , blocks =
                B.prose "prose/window.md"
              # B.listings
                  [ B.listing "Block range" grains.run [ c.host ] [ m.firstBlock, m.lastBlock, m.totalBlocks, m.testStart, m.testEnd ]
                  , B.listing
                      "Blocks by phase"
                      grains.run
                      [ c.host ]
                      [ m.setup, m.leadingEmpty, m.analysed, m.droppedAtEnds, m.trailingEmpty, m.tearDown ]
                  , B.listing
                      "Totals over the test"
                      grains.run
                      [ c.host ]
                      [ m.totalTransactions, m.totalNet, m.totalCpu, m.totalElapsed, m.totalTime, m.totalLatency ]
                  ]
          }
        , part::{
          , title = "Transactions per second"
          , blocks =
                B.prose "prose/tps.md"
              # B.scatters
                  [ B.scatter
                      { title = "Transactions per second"
                      , grain = grains.pair
                      , per = c.host
                      , of = grains.run
                      , label = [ c.host ]
                      , keys = [ c.host ]
                      , x = m.sinceStart
                      , y = m.pairTps
                      }
                  ]
              # B.listings [ B.listing "TPS" grains.tps [ c.host ] (listed m.tps # [ m.tpsEmpty ]) ]
          }
        , part::{
          , title = "Block statistics"
          , blocks =
                B.prose "prose/blocks.md"
              # B.listings
                  [ B.listing "Block size" grains.blockStatistics [ c.host ] (listed m.size # [ m.sizeEmpty, m.numBlocks ])
                  , B.listing "Billed CPU time" grains.blockStatistics [ c.host ] (listed m.cpu)
                  , B.listing "Time to apply transactions" grains.blockStatistics [ c.host ] (listed m.elapsed)
                  , B.listing "Time to validate the block" grains.blockStatistics [ c.host ] (listed m.time)
                  , B.listing "Latency" grains.blockStatistics [ c.host ] (listed m.latency)
                  ]
          }
        , part::{
          , title = "Transaction statistics"
          , blocks =
                B.prose "prose/transactions.md"
              # B.listings
                  [ B.listing "Transaction latency" grains.transactions [ c.generators ] (listed m.trxLatency # [ m.samples ])
                  , B.listing "Billed CPU time of transactions" grains.transactions [ c.generators ] (listed m.trxCpu)
                  , B.listing "Net usage of transactions" grains.transactions [ c.generators ] (listed m.trxNet)
                  , B.listing "Response time" grains.transactions [ c.generators ] (listed m.ack)
                  ]
          }
        , part::{
          , title = "Producers and forks"
          , blocks =
                B.prose "prose/producers.md"
              # B.listings
                  [ B.listing "Production windows" grains.productionWindows [ c.host ] [ m.windows, m.windowSize, m.missed ]
                  , B.listing
                      "Nodes"
                      grains.node
                      [ c.host, c.forkedBlocks, c.droppedBlocks ]
                      [ m.received, m.produced, m.forks, m.dropped ]
                  ]
          }
        ]
      , style = "prefixed"
      , label = constant.ident.name
      , doc = "Statistics of the performance harness, from a node's log"
      }

in  { harness }
