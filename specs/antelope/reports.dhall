-- The report of a run of the performance harness.
let S = ../schema/package.dhall

let B = S.block

let constant = (./samples.dhall).constant

let c = (./harness/relations.dhall).column

let grains = ./harness/grains.dhall

let m = ./harness/metrics.dhall

let listed = ./harness/listed.dhall

let ofRun = \(title : Text) -> B.listing title grains.run [ c.host ]

let ofBlocks = \(title : Text) -> B.listing title grains.blockStatistics [ c.host ]

let ofTransactions = \(title : Text) -> B.listing title grains.transactions [ c.generators ]

let verdict =
      B.listing
        "Result"
        grains.verdict
        [ c.host, c.completed, c.tpsExpectation, c.trxExpectation, c.successful, c.result ]
        [ m.targetTps, m.reachedTps, m.expected, m.counted ]

let tps =
      B.scatter
        { title = "Transactions per second"
        , grain = grains.pair
        , per = c.host
        , of = grains.run
        , label = [ c.host ]
        , keys = [ c.host ]
        , x = m.sinceStart
        , y = m.pairTps
        }

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
        [ B.part "Verdict" (B.prose "prose/verdict.md" # B.listings [ verdict ])
        , B.part
            "Blocks and the analysis window"
            (   B.prose "prose/window.md"
              # B.listings
                  [ ofRun "Block range" [ m.firstBlock, m.lastBlock, m.totalBlocks, m.testStart, m.testEnd ]
                  , ofRun
                      "Blocks by phase"
                      [ m.setup, m.leadingEmpty, m.analysed, m.droppedAtEnds, m.trailingEmpty, m.tearDown ]
                  , ofRun
                      "Totals over the test"
                      [ m.totalTransactions, m.totalNet, m.totalCpu, m.totalElapsed, m.totalTime, m.totalLatency ]
                  ]
            )
        , B.part
            "Transactions per second"
            (   B.prose "prose/tps.md"
              # B.scatters [ tps ]
              # B.listings [ B.listing "TPS" grains.tps [ c.host ] (listed m.tps # [ m.tpsEmpty ]) ]
            )
        , B.part
            "Block statistics"
            (   B.prose "prose/blocks.md"
              # B.listings
                  [ ofBlocks "Block size" (listed m.size # [ m.sizeEmpty, m.numBlocks ])
                  , ofBlocks "Billed CPU time" (listed m.cpu)
                  , ofBlocks "Time to apply transactions" (listed m.elapsed)
                  , ofBlocks "Time to validate the block" (listed m.time)
                  , ofBlocks "Latency" (listed m.latency)
                  ]
            )
        , B.part
            "Transaction statistics"
            (   B.prose "prose/transactions.md"
              # B.listings
                  [ ofTransactions "Transaction latency" (listed m.trxLatency # [ m.samples ])
                  , ofTransactions "Billed CPU time of transactions" (listed m.trxCpu)
                  , ofTransactions "Net usage of transactions" (listed m.trxNet)
                  , ofTransactions "Response time" (listed m.ack)
                  ]
            )
        , B.part
            "Producers and forks"
            (   B.prose "prose/producers.md"
              # B.listings
                  [ B.listing "Production windows" grains.productionWindows [ c.host ] [ m.windows, m.windowSize, m.missed ]
                  , B.listing
                      "Nodes"
                      grains.node
                      [ c.host, c.forkedBlocks, c.droppedBlocks ]
                      [ m.received, m.produced, m.forks, m.dropped ]
                  ]
            )
        ]
      , label = constant.ident.name
      , doc = "Statistics of the performance harness, from a node's log"
      }

in  { harness }
