-- Relations: the blocks in the log of the observer, their phases, and statistics of the analysed blocks.
let S = ../../schema/package.dhall

let G = S.grain

let U = S.unit

let D = ../units.dhall

let events = ./events.dhall

let column = G.column

-- Columns for the minimum, maximum, average and standard deviation of a quantity.
let figures =
      \(name : Text) -> \(unit : S.Unit) -> \(quantity : Text) ->
        { min = column "integer" "${name}_min" unit "Minimum ${quantity}"
        , max = column "integer" "${name}_max" unit "Maximum ${quantity}"
        , avg = column "real" "${name}_avg" unit "Average ${quantity}"
        , sigma = column "real" "${name}_sigma" unit "Population standard deviation of the ${quantity}"
        }

let Figures = { min : S.Column, max : S.Column, avg : S.Column, sigma : S.Column }

let listed = \(f : Figures) -> [ f.min, f.max, f.avg, f.sigma ]

let count = \(name : Text) -> \(doc : Text) -> column "integer" name D.block doc

let c =
      { host = column "text" "host" U.none "Node"
      , place = column "integer" "place" U.none "Position in the node's log"
      , loggedAt = column "instant" "logged_at" U.nanosecond "Time of the log line"
      , number = column "integer" "number" D.block "Block number"
      , producer = column "text" "producer" U.none "Producer that signed the block"
      , transactions = column "integer" "transactions" D.transaction "Transactions in the block"
      , net = column "integer" "net" U.byte "Net usage of the transactions"
      , cpu = column "integer" "cpu" D.microsecond "Billed CPU time of the transactions"
      , elapsed = column "integer" "elapsed" D.microsecond "Time to apply the transactions"
      , timeTaken = column "integer" "time_taken" D.microsecond "Total time to validate the block"
      , latency = column "integer" "latency" U.millisecond "Time from the block's timestamp to the end of its validation"
      , ofTest = column "boolean" "of_test" U.none "Whether the block belongs to the test"
      , phase =
          column "text" "phase" U.none "set-up, leading empty, dropped, analysed, trailing empty or tear-down"
      , sinceStart = column "integer" "since_start" U.nanosecond "Time since the first analysed block"
      , tps = column "integer" "tps" D.transactionPerSecond "Transactions of the block and the next one, which cover one second"
      , empty = column "boolean" "empty" U.none "Whether the first block of the pair is empty"
      , firstBlock = count "first_block" "Number of the first block of the log"
      , lastBlock = count "last_block" "Number of the last block of the log"
      , totalBlocks = count "total_blocks" "Blocks in the log"
      , testStart = count "test_start_block" "Number of the first block of the test"
      , testEnd = count "test_end_block" "Number of the last block of the test"
      , setup = count "setup_blocks" "Blocks before the test"
      , tearDown = count "tear_down_blocks" "Blocks after the test"
      , leadingEmpty = count "leading_empty_blocks" "Empty blocks before the test's first transaction"
      , trailingEmpty = count "trailing_empty_blocks" "Empty blocks after the test's last transaction"
      , droppedAtEnds = count "dropped_blocks" "Blocks dropped in addition to the empty ones, at both ends together"
      , analysed = count "analysed_blocks" "Analysed blocks: blocks of the test that are neither empty at an end nor dropped"
      , totalTransactions = column "integer" "total_transactions" D.transaction "Transactions of all blocks of the test"
      , totalNet = column "integer" "total_net" U.byte "Net usage of all transactions of the test"
      , totalCpu = column "integer" "total_cpu" D.microsecond "Billed CPU time of all transactions of the test"
      , totalElapsed = column "integer" "total_elapsed" D.microsecond "Time to apply all transactions of the test"
      , totalTime = column "integer" "total_time" D.microsecond "Time to validate all blocks of the test"
      , totalLatency = column "integer" "total_latency" U.millisecond "Sum of the latencies of all blocks of the test"
      , tpsEmpty = count "tps_empty_blocks" "Empty blocks in the analysis window, without its last block"
      , numBlocks = count "num_blocks" "Blocks in the analysis window"
      , sizeEmpty = count "block_size_empty_blocks" "Blocks in the analysis window without net usage"
      , windows = column "integer" "windows" D.window "Production windows, including incomplete ones"
      , windowSize = column "real" "average_size" D.blockPerWindow "Average number of blocks per production window"
      , missed = column "integer" "missed" D.window "Production windows that do not have twelve blocks"
      , received = count "received" "Blocks that the node received"
      , produced = count "produced" "Blocks that the node produced"
      , forks = column "integer" "forks" U.count "Switches to another fork"
      , forkedBlocks = column "text" "forked_blocks" U.none "Reverted blocks by switch"
      , dropped = count "dropped" "Blocks that were dropped because the node was producing when they arrived"
      , droppedBlocks = column "text" "dropped_blocks" U.none "Numbers of the dropped blocks"
      , id = column "text" "id" U.none "Id of the transaction"
      , inBlock = column "integer" "in_block" D.block "Block that includes the transaction"
      , trxLatency = column "integer" "latency" U.nanosecond "Time from sending the transaction to the timestamp of its block"
      , trxCpu = column "integer" "trx_cpu" D.microsecond "Billed CPU time of the transaction"
      , trxNet = column "integer" "trx_net" D.netWord "Net usage of the transaction"
      , ack = column "integer" "ack" D.microsecond "Time from sending the transaction to the response (-1: not recorded)"
      , generators = column "text" "generators" U.none "Generators"
      , samples = column "integer" "samples" D.transaction "Transactions included in blocks"
      , targetTps = column "integer" "target_tps" D.transactionPerSecond "Target of transactions per second"
      , expected = column "integer" "expected" D.transaction "Transactions sent"
      , counted = column "integer" "counted" D.transaction "Transactions included in the blocks of the test"
      , completed = column "text" "run_completed" U.none "Whether the run was completed"
      , tpsExpectation = column "text" "tps_expectation" U.none "Whether the target of transactions per second was met"
      , trxExpectation = column "text" "trx_expectation" U.none "Whether all sent transactions are in blocks"
      , successful = column "text" "run_successful" U.none "Whether the run was completed with all transactions in blocks"
      , result = column "text" "result" U.none "pass, fail or not judged"
      , passed = column "integer" "passed" U.none "1: pass, 0: fail"
      }

let f =
      { tps = figures "tps" D.transactionPerSecond "number of transactions per second"
      , size = figures "block_size" U.byte "size of a block"
      , cpu = figures "block_cpu" D.microsecond "billed CPU time of a block"
      , elapsed = figures "block_elapsed" D.microsecond "time to apply the transactions of a block"
      , time = figures "block_time" D.microsecond "time to validate a block"
      , latency = figures "block_latency" U.millisecond "latency of a block"
      , trxLatency = figures "trx_latency" U.nanosecond "latency of a transaction"
      , trxCpu = figures "trx_cpu" D.microsecond "billed CPU time of a transaction"
      , trxNet = figures "trx_net" D.netWord "net usage of a transaction"
      , ack = figures "trx_ack" D.microsecond "response time"
      }

let observer =
      S.Relation::{
      , name = "observer"
      , sql = ../../../queries/antelope/harness/observer.sql as Text
      , uses = [ events.block.name ]
      , columns =
        [ c.host ]
      , key = [ c.host.name ]
      , doc = "The node whose log provides the blocks: the first that receives blocks and produces none"
      }

let blocks =
      S.Relation::{
      , name = "blocks"
      , sql = ../../../queries/antelope/harness/blocks.sql as Text
      , uses = [ events.block.name, observer.name ]
      , columns =
        [ c.host
        , c.place
        , c.loggedAt
        , c.number
        , c.producer
        , c.transactions
        , c.net
        , c.cpu
        , c.elapsed
        , c.timeTaken
        , c.latency
        , c.ofTest
        ]
      , key = [ c.place.name ]
      , checks =
        [ S.Check::{
          , code = "mixed"
          , sql = ../../../queries/antelope/harness/checks/mixed.sql as Text
          , uses = [ "blocks" ]
          , message = "only {complete} of the {blocks} blocks of {host} have net, cpu, elapsed and time; an older version logged the others. Statistics of these fields cover only blocks that have them"
          , hint = ""
          , severity = "warning"
          }
        , S.Check::{
          , code = "time-since-1970"
          , sql = ../../../queries/antelope/harness/checks/time_since_1970.sql as Text
          , uses = [ events.block.name ]
          , message = "{blocks} blocks of {host} have no time: Spring 1.0.0 and 1.0.1 log the time since 1970 for blocks that they produce"
          , hint = ""
          , severity = "warning"
          }
        ]
      , doc = "Blocks of the observer, in the order of its log"
      }

let phases =
      S.Relation::{
      , name = "phases"
      , sql = ../../../queries/antelope/harness/phases.sql as Text
      , uses = [ blocks.name ]
      , columns =
        [ c.host
        , c.place
        , c.number
        , c.transactions
        , c.phase
        ]
      , key = [ c.place.name ]
      , doc = "Phase of each block: the analysis window is the test without the empty blocks at its ends"
      }

let guide =
      S.Relation::{
      , name = "guide"
      , sql = ../../../queries/antelope/harness/guide.sql as Text
      , uses = [ blocks.name, phases.name ]
      , columns =
        [ c.host
        , c.firstBlock
        , c.lastBlock
        , c.totalBlocks
        , c.testStart
        , c.testEnd
        , c.setup
        , c.tearDown
        , c.leadingEmpty
        , c.trailingEmpty
        , c.droppedAtEnds
        , c.analysed
        , c.totalTransactions
        , c.totalNet
        , c.totalCpu
        , c.totalElapsed
        , c.totalTime
        , c.totalLatency
        ]
      , key = [ c.host.name ]
      , checks =
        [ S.Check::{
          , code = "gaps"
          , sql = ../../../queries/antelope/harness/checks/gaps.sql as Text
          , uses = [ "guide" ]
          , message = "the log of {host} has {total_blocks} blocks from number {first_block} to {last_block}, expected {due}: blocks are missing or were received more than once"
          , hint = ""
          , severity = "warning"
          }
        , S.Check::{
          , code = "no-block"
          , sql = ../../../queries/antelope/harness/checks/no_block.sql as Text
          , uses = [ "guide" ]
          , message = "none of the {total_blocks} blocks of {host} is analysed"
          , hint = "check `testStartBlockNum`, `testEndBlockNum` and `configAddlDropCnt` in run.json"
          , severity = "warning"
          }
        ]
      , doc = "Number of blocks by phase, and totals of the test"
      }

let windowBlocks =
      S.Relation::{
      , name = "window_blocks"
      , sql = ../../../queries/antelope/harness/window_blocks.sql as Text
      , uses = [ blocks.name, phases.name ]
      , columns =
        [ c.host
        , c.place
        , c.number
        , c.producer
        , c.sinceStart
        , c.transactions
        , c.net
        , c.cpu
        , c.elapsed
        , c.timeTaken
        , c.latency
        ]
      , key = [ c.place.name ]
      , doc = "Analysed blocks"
      }

let pairs =
      S.Relation::{
      , name = "pairs"
      , sql = ../../../queries/antelope/harness/pairs.sql as Text
      , uses = [ windowBlocks.name ]
      , columns =
        [ c.host
        , c.place
        , c.number
        , c.sinceStart
        , c.tps
        , c.empty
        ]
      , key = [ c.place.name ]
      , doc = "Pairs of adjacent analysed blocks"
      }

let tps =
      S.Relation::{
      , name = "tps"
      , sql = ../../../queries/antelope/harness/tps.sql as Text
      , uses = [ guide.name, pairs.name ]
      , columns =
        [ c.host ] # listed f.tps # [ c.tpsEmpty ]
      , key = [ c.host.name ]
      , doc = "Transactions per second, over pairs of adjacent blocks"
      }

let blockStatistics =
      S.Relation::{
      , name = "block_statistics"
      , sql = ../../../queries/antelope/harness/block_statistics.sql as Text
      , uses = [ guide.name, windowBlocks.name ]
      , columns =
        [ c.host, c.numBlocks, c.sizeEmpty ]
        # listed f.size
        # listed f.cpu
        # listed f.elapsed
        # listed f.time
        # listed f.latency
      , key = [ c.host.name ]
      , doc = "Statistics of the analysed blocks"
      }

let productionWindows =
      S.Relation::{
      , name = "production_windows"
      , sql = ../../../queries/antelope/harness/production_windows.sql as Text
      , uses = [ blocks.name, guide.name ]
      , columns =
        [ c.host
        , c.windows
        , c.windowSize
        , c.missed
        ]
      , key = [ c.host.name ]
      , doc = "Production windows in the test"
      }

let nodes =
      S.Relation::{
      , name = "nodes"
      , sql = ../../../queries/antelope/harness/nodes.sql as Text
      , uses = [ events.block.name, events.forked.name, events.dropped.name, "logs" ]
      , columns =
        [ c.host
        , c.received
        , c.produced
        , c.forks
        , c.forkedBlocks
        , c.dropped
        , c.droppedBlocks
        ]
      , key = [ c.host.name ]
      , checks =
        [ S.Check::{
          , code = "silent"
          , sql = ../../../queries/antelope/harness/checks/silent.sql as Text
          , uses = [ "nodes", "logs" ]
          , message = "the logs of {hosts} have no received or produced block"
          , hint = "check that the node has peers, and that docs/antelope.md lists its version"
          , severity = "warning"
          }
        ]
      , doc = "Blocks, forks and dropped blocks by node"
      }

let verdict =
      S.Relation::{
      , name = "verdict"
      , sql = ../../../queries/antelope/harness/verdict.sql as Text
      , uses = [ guide.name, tps.name ]
      , columns =
        [ c.host
        , c.targetTps
        , f.tps.avg
        , c.expected
        , c.counted
        , c.completed
        , c.tpsExpectation
        , c.trxExpectation
        , c.successful
        , c.result
        , c.passed
        ]
      , key = [ c.host.name ]
      , doc = "Verdict of the run"
      }

let transactions =
      S.Relation::{
      , name = "transactions"
      , sql = ../../../queries/antelope/harness/transactions.sql as Text
      , uses = [ events.sent.name ]
      , columns =
        [ c.id
        , c.inBlock
        , c.trxLatency
        , c.trxCpu
        , c.trxNet
        , c.ack
        ]
      , key = [ c.id.name ]
      , doc = "Transactions of the generators that are in blocks"
      }

let transactionStatistics =
      S.Relation::{
      , name = "transaction_statistics"
      , sql = ../../../queries/antelope/harness/transaction_statistics.sql as Text
      , uses = [ transactions.name ]
      , columns =
        [ c.generators, c.samples ]
        # listed f.trxLatency
        # listed f.trxCpu
        # listed f.trxNet
        # listed f.ack
      , key = [ c.generators.name ]
      , doc = "Transaction statistics"
      }

in  { column = c
    , figures = f
    , observer
    , blocks
    , phases
    , guide
    , windowBlocks
    , pairs
    , tps
    , blockStatistics
    , productionWindows
    , nodes
    , verdict
    , transactions
    , transactionStatistics
    }
