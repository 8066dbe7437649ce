-- Relations: the blocks of the observing node, what each counts as, and what is worked out of those that are analysed.
let S = ../../schema/package.dhall

let G = S.grain

let U = S.unit

let D = ../units.dhall

let events = ./events.dhall

let column = G.column

-- Least, greatest, average and deviation of something.
let figures =
      \(name : Text) -> \(unit : S.Unit) -> \(what : Text) ->
        { min = column "integer" "${name}_min" unit "Least ${what}"
        , max = column "integer" "${name}_max" unit "Greatest ${what}"
        , avg = column "real" "${name}_avg" unit "Average ${what}"
        , sigma = column "real" "${name}_sigma" unit "Population deviation of the ${what}"
        }

let Figures = { min : S.Column, max : S.Column, avg : S.Column, sigma : S.Column }

let listed = \(f : Figures) -> [ f.min, f.max, f.avg, f.sigma ]

let count = \(name : Text) -> \(doc : Text) -> column "integer" name D.block doc

let c =
      { host = column "text" "host" U.none "Node"
      , place = column "integer" "place" U.none "Place in the node's log"
      , toldAt = column "instant" "told_at" U.nanosecond "Time of the line"
      , number = column "integer" "number" D.block "Number of the block"
      , producer = column "text" "producer" U.none "Who signed the block"
      , transactions = column "integer" "transactions" D.transaction "Transactions in the block"
      , net = column "integer" "net" U.byte "What they take of the network"
      , cpu = column "integer" "cpu" D.microsecond "CPU time that they are billed"
      , elapsed = column "integer" "elapsed" D.microsecond "Time in which they were applied"
      , timeTaken = column "integer" "time_taken" D.microsecond "Time in which the block was validated, with all else"
      , latency = column "integer" "latency" U.millisecond "From the block's time to the end of its validation"
      , ofTest = column "boolean" "of_test" U.none "Whether the block is of the test"
      , phase =
          column "text" "phase" U.none "set-up, leading empty, dropped, analysed, trailing empty, tear-down"
      , sinceStart = column "integer" "since_start" U.nanosecond "Time since the first analysed block"
      , tps = column "integer" "tps" D.transactionPerSecond "Transactions of the block and of the next one: one second"
      , empty = column "boolean" "empty" U.none "Whether the first of the two is empty"
      , firstBlock = count "first_block" "Number of the first block of the log"
      , lastBlock = count "last_block" "Number of the last"
      , totalBlocks = count "total_blocks" "Blocks of the log"
      , testStart = count "test_start_block" "Number of the first block of the test"
      , testEnd = count "test_end_block" "Number of the last"
      , setup = count "setup_blocks" "Blocks before the test"
      , tearDown = count "tear_down_blocks" "Blocks after the test"
      , leadingEmpty = count "leading_empty_blocks" "Empty blocks before the test's first transaction"
      , trailingEmpty = count "trailing_empty_blocks" "Empty blocks after the test's last transaction"
      , droppedAtEnds = count "dropped_blocks" "Blocks left out beside these, at both ends together"
      , analysed = count "analysed_blocks" "Blocks that are left"
      , totalTransactions = column "integer" "total_transactions" D.transaction "Transactions of all blocks of the test"
      , totalNet = column "integer" "total_net" U.byte "What they take of the network"
      , totalCpu = column "integer" "total_cpu" D.microsecond "CPU time that they are billed"
      , totalElapsed = column "integer" "total_elapsed" D.microsecond "Time in which they were applied"
      , totalTime = column "integer" "total_time" D.microsecond "Time in which the blocks were validated"
      , totalLatency = column "integer" "total_latency" U.millisecond "Sum of the blocks' latencies"
      , tpsEmpty = count "tps_empty_blocks" "Empty blocks of the window without its last"
      , numBlocks = count "num_blocks" "Blocks of the window"
      , sizeEmpty = count "block_size_empty_blocks" "Blocks that take nothing of the network"
      , windows = column "integer" "windows" D.window "Turns of producers, with those that are cut short"
      , windowSize = column "real" "average_size" D.blockPerWindow "Blocks of a turn on average"
      , missed = column "integer" "missed" D.window "Turns of another number of blocks than twelve"
      , received = count "received" "Blocks that the node received"
      , produced = count "produced" "Blocks that the node produced"
      , forks = column "integer" "forks" U.count "Switches to another fork"
      , forkedBlocks = column "text" "forked_blocks" U.none "How many blocks each switch took back"
      , dropped = count "dropped" "Blocks that came in while the node was producing, and were dropped"
      , droppedBlocks = column "text" "dropped_blocks" U.none "Their numbers"
      , id = column "text" "id" U.none "Id of the transaction"
      , inBlock = column "integer" "in_block" D.block "Block that holds the transaction"
      , trxLatency = column "integer" "latency" U.nanosecond "From the sending to the time of the block"
      , trxCpu = column "integer" "trx_cpu" D.microsecond "CPU time that the transaction is billed"
      , trxNet = column "integer" "trx_net" D.netWord "What it takes of the network"
      , ack = column "integer" "ack" D.microsecond "From the sending to the answer (-1: none is told)"
      , generators = column "text" "generators" U.none "Which generators"
      , samples = column "integer" "samples" D.transaction "Transactions that were found in blocks"
      , targetTps = column "integer" "target_tps" D.transactionPerSecond "Transactions a second that were meant to be reached"
      , expected = column "integer" "expected" D.transaction "Transactions that were sent"
      , counted = column "integer" "counted" D.transaction "Transactions that are in blocks"
      , completed = column "text" "run_completed" U.none "Whether the run came to its end"
      , tpsExpectation = column "text" "tps_expectation" U.none "Whether as many a second were reached"
      , trxExpectation = column "text" "trx_expectation" U.none "Whether all that were sent are in blocks"
      , successful = column "text" "run_successful" U.none "Whether the run ended with all transactions in blocks"
      , result = column "text" "result" U.none "pass, fail, or not judged"
      , passed = column "integer" "passed" U.none "1 for a pass, 0 for a fail"
      }

let f =
      { tps = figures "tps" D.transactionPerSecond "number of transactions a second"
      , size = figures "block_size" U.byte "size of a block"
      , cpu = figures "block_cpu" D.microsecond "CPU time of a block"
      , elapsed = figures "block_elapsed" D.microsecond "time of applying a block's transactions"
      , time = figures "block_time" D.microsecond "time of validating a block"
      , latency = figures "block_latency" U.millisecond "latency of a block"
      , trxLatency = figures "trx_latency" U.nanosecond "latency of a transaction"
      , trxCpu = figures "trx_cpu" D.microsecond "CPU time of a transaction"
      , trxNet = figures "trx_net" D.netWord "size of a transaction"
      , ack = figures "trx_ack" D.microsecond "time of an answer"
      }

let observer =
      S.Relation::{
      , name = "observer"
      , sql = ../../../queries/antelope/harness/observer.sql as Text
      , uses = [ events.block.name ]
      , columns =
        [ c.host ]
      , key = [ c.host.name ]
      , doc = "The node whose log is read for blocks: the first that receives some and produces none"
      }

let blocks =
      S.Relation::{
      , name = "blocks"
      , sql = ../../../queries/antelope/harness/blocks.sql as Text
      , uses = [ events.block.name, observer.name ]
      , columns =
        [ c.host
        , c.place
        , c.toldAt
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
          , message = "{telling} of the {blocks} blocks of {host} tell their net, cpu, elapsed and time, the others were written by an older version: figures of these are of those that tell them"
          , hint = ""
          , severity = "warning"
          }
        ]
      , doc = "The blocks of the observing node, in the order of its log"
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
      , doc = "What each block counts as: the window of the analysis is what is left of the test without empty blocks at its ends"
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
          , message = "the log of {host} tells of {total_blocks} blocks from {first_block} to {last_block}, which are {due} numbers: blocks are missing, or were received twice"
          , hint = ""
          , severity = "warning"
          }
        , S.Check::{
          , code = "no-block"
          , sql = ../../../queries/antelope/harness/checks/no_block.sql as Text
          , uses = [ "guide" ]
          , message = "no block of {host} is left to analyse, of {total_blocks}"
          , hint = "are `testStartBlockNum`, `testEndBlockNum` and `configAddlDropCnt` in run.json those of this log?"
          , severity = "warning"
          }
        ]
      , doc = "How many blocks count as what, and totals of the test"
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
      , doc = "The blocks that are analysed"
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
      , doc = "Each analysed block with the next one"
      }

let tps =
      S.Relation::{
      , name = "tps"
      , sql = ../../../queries/antelope/harness/tps.sql as Text
      , uses = [ guide.name, pairs.name ]
      , columns =
        [ c.host ] # listed f.tps # [ c.tpsEmpty ]
      , key = [ c.host.name ]
      , doc = "Transactions a second, over pairs of adjacent blocks"
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
      , doc = "What an analysed block takes"
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
      , doc = "Turns of producers in the test"
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
          , message = "no block is received or produced in the logs of {hosts}"
          , hint = "is the node cut off from the others, or its version one whose lines are not known? docs/antelope.md lists those that are"
          , severity = "warning"
          }
        ]
      , doc = "What each node tells of blocks, forks and drops"
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
      , doc = "Whether the run passes"
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
      , doc = "Transactions of the generators that were found in blocks"
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
      , doc = "What a transaction takes"
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
