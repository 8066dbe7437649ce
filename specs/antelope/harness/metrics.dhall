-- Metrics of a run of the performance harness, named as in its reports.
let S = ../../schema/package.dhall

let X = S.x

let U = S.unit

let D = ../units.dhall

let r = ./relations.dhall

let c = r.column

let f = r.figures

let grains = ./grains.dhall

let of =
      \(grain : S.Grain.Type) ->
      \(m : { id : Text, name : Text, column : S.Column, unit : S.Unit, better : Text }) ->
        S.Metric::{
        , id = m.id
        , name = m.name
        , grain = grain.name
        , measure = X.column m.column
        , accepted = False
        , unit = m.unit
        , better = m.better
        , width = 6
        , doc = m.column.doc
        }

-- A metric with the id and unit of its column.
let own =
      \(grain : S.Grain.Type) -> \(name : Text) -> \(column : S.Column) ->
        of grain { id = column.name, name, column, unit = column.unit, better = "neither" }

let Figures = { min : S.Column, max : S.Column, avg : S.Column, sigma : S.Column }

let figures =
      \(grain : S.Grain.Type) -> \(better : Text) -> \(unit : S.Unit) -> \(of_ : Figures) ->
        let figure = \(name : Text) -> \(column : S.Column) -> of grain { id = column.name, name, column, unit, better }

        in  { min = figure "Minimum" of_.min
            , max = figure "Maximum" of_.max
            , avg = figure "Average" of_.avg
            , sigma = figure "Standard deviation" of_.sigma // { better = "neither" }
            }

-- A block may be received before the time that it is of.
let mayBeNegative = \(m : S.Metric.Type) -> m // { quantity = "signed" }

let signed =
      \(m : { min : S.Metric.Type, max : S.Metric.Type, avg : S.Metric.Type, sigma : S.Metric.Type }) ->
        { min = mayBeNegative m.min, max = mayBeNegative m.max, avg = mayBeNegative m.avg, sigma = m.sigma }

let ofBlock =
      \(id : Text) -> \(name : Text) -> \(column : S.Column) ->
        of grains.windowBlock { id, name, column, unit = column.unit, better = "lower" }

let listed = ./listed.dhall

let blocks = figures grains.blockStatistics "lower"

let trx = figures grains.transactions "lower"

let m =
      { tps = figures grains.tps "higher" D.transactionPerSecond f.tps
      , tpsEmpty = own grains.tps "Empty" c.tpsEmpty
      , size = figures grains.blockStatistics "neither" U.byte f.size
      , sizeEmpty = own grains.blockStatistics "Empty" c.sizeEmpty
      , numBlocks = own grains.blockStatistics "Blocks" c.numBlocks
      , cpu = blocks D.microsecond f.cpu
      , elapsed = blocks D.microsecond f.elapsed
      , time = blocks D.microsecond f.time
      , latency = signed (blocks U.millisecond f.latency)
      , firstBlock = own grains.run "First" c.firstBlock
      , lastBlock = own grains.run "Last" c.lastBlock
      , totalBlocks = own grains.run "Total" c.totalBlocks
      , testStart = own grains.run "Test begins" c.testStart
      , testEnd = own grains.run "Test ends" c.testEnd
      , setup = own grains.run "Set-up" c.setup
      , tearDown = own grains.run "Tear-down" c.tearDown
      , leadingEmpty = own grains.run "Leading empty" c.leadingEmpty
      , trailingEmpty = own grains.run "Trailing empty" c.trailingEmpty
      , droppedAtEnds = own grains.run "Additionally dropped" c.droppedAtEnds
      , analysed = own grains.run "Analysed" c.analysed
      , totalTransactions = own grains.run "Transactions" c.totalTransactions
      , totalNet = own grains.run "Net" c.totalNet
      , totalCpu = own grains.run "CPU" c.totalCpu
      , totalElapsed = own grains.run "Elapsed" c.totalElapsed
      , totalTime = own grains.run "Time" c.totalTime
      , totalLatency = mayBeNegative (own grains.run "Latency" c.totalLatency)
      , windows =
          of grains.productionWindows
            { id = "production_windows_total", name = "Production windows", column = c.windows, unit = D.window, better = "neither" }
      , windowSize =
          of grains.productionWindows
            { id = "production_windows_average_size", name = "Average size", column = c.windowSize
            , unit = D.blockPerWindow, better = "neither"
            }
      , missed =
          of grains.productionWindows
            { id = "production_windows_missed", name = "Incomplete", column = c.missed, unit = D.window, better = "lower" }
      , received = own grains.node "Received" c.received
      , produced = own grains.node "Produced" c.produced
      , forks = own grains.node "Forks" c.forks
      , dropped =
          of grains.node
            { id = "blocks_dropped", name = "Dropped", column = c.dropped, unit = D.block, better = "lower" }
      , targetTps = own grains.verdict "Target" c.targetTps
      , reachedTps =
          of grains.verdict
            { id = "reached_tps", name = "Reached", column = f.tps.avg, unit = D.transactionPerSecond, better = "higher" }
      , expected =
          of grains.verdict
            { id = "expected_transactions", name = "Expected", column = c.expected, unit = D.transaction, better = "neither" }
      , counted =
          of grains.verdict
            { id = "counted_transactions", name = "Counted", column = c.counted, unit = D.transaction, better = "higher" }
      , passed =
          of grains.verdict { id = "test_passed", name = "Passed", column = c.passed, unit = U.none, better = "higher" }
      , pairTps =
          of grains.pair
            { id = "pair_tps", name = "Transactions per second", column = c.tps, unit = D.transactionPerSecond, better = "higher" }
      , sinceStart =
          of grains.pair
            { id = "pair_since_start", name = "Time since start", column = c.sinceStart, unit = U.second, better = "neither" }
      , blockCpu = ofBlock "block_billed_cpu" "Billed CPU time of a block" c.cpu
      , blockElapsed = ofBlock "block_elapsed" "Time to apply a block's transactions" c.elapsed
      , blockTime = ofBlock "block_time" "Time to validate a block" c.timeTaken
      , blockLatency = mayBeNegative (ofBlock "block_latency" "Latency of a block" c.latency)
      , trxLatency = trx U.second f.trxLatency
      , trxCpu = trx D.microsecond f.trxCpu
      , trxNet = figures grains.transactions "neither" D.netWord f.trxNet
      , ack = trx D.microsecond f.ack
      , samples =
          of grains.transactions
            { id = "trx_samples", name = "Samples", column = c.samples, unit = D.transaction, better = "neither" }
      }

in    m
    /\  { all =
              listed m.tps
            # [ m.tpsEmpty ]
            # listed m.size
            # [ m.sizeEmpty, m.numBlocks ]
            # listed m.cpu
            # listed m.elapsed
            # listed m.time
            # listed m.latency
            # [ m.firstBlock
              , m.lastBlock
              , m.totalBlocks
              , m.testStart
              , m.testEnd
              , m.setup
              , m.tearDown
              , m.leadingEmpty
              , m.trailingEmpty
              , m.droppedAtEnds
              , m.analysed
              , m.totalTransactions
              , m.totalNet
              , m.totalCpu
              , m.totalElapsed
              , m.totalTime
              , m.totalLatency
              , m.windows
              , m.windowSize
              , m.missed
              , m.received
              , m.produced
              , m.forks
              , m.dropped
              , m.targetTps
              , m.reachedTps
              , m.expected
              , m.counted
              , m.passed
              , m.pairTps
              , m.sinceStart
              , m.blockCpu
              , m.blockElapsed
              , m.blockTime
              , m.blockLatency
              ]
            # listed m.trxLatency
            # listed m.trxCpu
            # listed m.trxNet
            # listed m.ack
            # [ m.samples ]
        }
