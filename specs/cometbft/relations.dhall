-- Relations: experiments and their windows.
let S = ../schema/package.dhall

let G = S.grain

let U = S.unit

let D = ./units.dhall

let events = ./events.dhall

let column = G.column

let c =
      { experiment = column "text" "experiment_id" U.none "Id of the experiment"
      , number = column "integer" "number" U.none "Place among the experiments, by time"
      , connections = column "integer" "connections" D.connection "Connections of the load tool"
      , rate = column "integer" "rate" D.transactionPerSecond "Transactions a second on each connection"
      , size = column "integer" "size" U.byte "Size of a transaction"
      , validTxs = column "integer" "valid_txs" D.transaction "Transactions found in blocks"
      , negative = column "integer" "negative_latencies" D.transaction "Of these, with a latency below 0"
      , least = column "integer" "latency_min" U.nanosecond "Least latency"
      , greatest = column "integer" "latency_max" U.nanosecond "Greatest latency"
      , average = column "integer" "latency_avg" U.nanosecond "Sum of the latencies divided by their number, cut to whole ns"
      , deviation = column "integer" "latency_stddev" U.nanosecond "Sample deviation of the latencies, cut to whole ns"
      , firstSent = column "instant" "first_sent" U.nanosecond "When the first transaction of the first block was sent"
      , firstBlock = column "instant" "first_block" U.nanosecond "Time of the first block"
      , lastBlock = column "instant" "last_block" U.nanosecond "Time of the last block"
      , span = column "integer" "span" U.nanosecond "From the first transaction sent to the last block"
      , expected = column "integer" "expected_txs" D.transaction "Transactions that the load tool meant to send"
      , name = column "text" "name" U.none "Name of the window"
      , from = column "instant" "from_ns" U.nanosecond "First step"
      , to = column "instant" "to_ns" U.nanosecond "No step later"
      , place = column "integer" "place" U.none "Place in the report"
      , blockTime = column "instant" "block_time" U.nanosecond "Time of the block"
      , latency = column "integer" "latency" U.nanosecond "From sending to the block after the transaction's"
      , sinceBegin = column "integer" "since_begin" U.nanosecond "From the begin of the window to the block"
      , sinceStart = column "integer" "since_start" U.nanosecond "From the first transaction sent to the block"
      , node = column "text" "node" U.none "Name of the node"
      , height = column "integer" "height" D.block "Height of the block"
      , committedAt = column "instant" "committed_at" U.nanosecond "When the node committed the block"
      , inConsensus = column "boolean" "in_consensus" U.none "Whether the node took part in consensus, and did not catch up"
      , interval = column "integer" "block_interval" U.nanosecond "From the commit of the block before, both in consensus"
      , starts = column "integer" "starts" D.number "How often the node started"
      , firstHeight = column "integer" "first_height" D.block "Height of the node's first block"
      , lastHeight = column "integer" "last_height" D.block "Height of the node's last block"
      , blocks = column "integer" "blocks" D.block "Blocks that the node has committed"
      , blocksCaughtUp = column "integer" "blocks_caught_up" D.block "Of these, while it was catching up"
      , transactions = column "integer" "transactions" D.transaction "Transactions in the blocks that it has worked out"
      , intervalAverage = column "integer" "interval_avg" U.nanosecond "Mean of the block intervals, cut to whole ns"
      , intervalGreatest = column "integer" "interval_max" U.nanosecond "Greatest block interval"
      , catchingUp = column "integer" "catching_up" U.nanosecond "Longest time from a start to joining consensus"
      , proposals = column "integer" "proposals" D.number "Proposals that the node has received"
      , complaints = column "integer" "complaints" D.number "Lines of level warn or error in the node's log"
      }

let experiments =
      S.Relation::{
      , name = "experiments"
      , sql = ../../queries/cometbft/experiments.sql as Text
      , uses = [ events.loaded.name ]
      , columns =
        [ c.experiment
        , c.number
        , c.connections
        , c.rate
        , c.size
        , c.validTxs
        , c.negative
        , c.least
        , c.greatest
        , c.average
        , c.deviation
        , c.firstSent
        , c.firstBlock
        , c.lastBlock
        , c.span
        , c.expected
        , c.from
        , c.to
        ]
      , key = [ "experiment_id" ]
      , checks =
        [ S.Check::{
          , code = "counted-twice"
          , sql = ../../queries/cometbft/checks/counted_twice.sql as Text
          , uses = [ events.loaded.name ]
          , message = "experiment {experiment_id}: {transactions} of its transactions stand in the load reports more than once, up to {times} times, {example} among them: each would count as often"
          , hint = "leave one report of an experiment in the run: a copy of it, or that of another node, has the same transactions"
          }
        , S.Check::{
          , code = "several-configurations"
          , sql = ../../queries/cometbft/checks/several_configurations.sql as Text
          , uses = [ events.loaded.name ]
          , message = "experiment {experiment_id} has {configurations} configurations: {told}"
          , hint = "an experiment has one number of connections, one rate and one size: give each an id of its own"
          }
        ]
      , doc = "Experiments of the load report"
      }

let windows =
      S.Relation::{
      , name = "windows"
      , sql = ../../queries/cometbft/windows.sql as Text
      , uses = [ experiments.name ]
      , columns = [ c.name, c.from, c.to ]
      , key = [ "name" ]
      , doc = "From when to when time series are read"
      }

let transactions =
      S.Relation::{
      , name = "transactions"
      , sql = ../../queries/cometbft/transactions.sql as Text
      , uses = [ events.loaded.name, experiments.name ]
      , columns = [ c.experiment, c.place, c.blockTime, c.sinceStart, c.latency ]
      , key = [ "experiment_id", "place" ]
      , doc = "Transactions of the load, found in blocks"
      }

let runTransactions =
      S.Relation::{
      , name = "run_transactions"
      , sql = ../../queries/cometbft/run_transactions.sql as Text
      , uses = [ events.loaded.name, windows.name ]
      , columns = [ c.name, c.place, c.sinceBegin, c.latency ]
      , key = [ "name", "place" ]
      , doc = "Transactions of the load, found in blocks, in the time of all experiments"
      }

let nodeBlocks =
      S.Relation::{
      , name = "node_blocks"
      , sql = ../../queries/cometbft/node_blocks.sql as Text
      , uses = [ events.started.name, events.caughtUp.name, events.committed.name ]
      , columns = [ c.node, c.height, c.committedAt, c.inConsensus, c.interval ]
      , key = [ "node", "height" ]
      , doc = "Blocks that nodes have committed, out of their logs"
      }

let nodes =
      S.Relation::{
      , name = "nodes_logged"
      , sql = ../../queries/cometbft/nodes.sql as Text
      , uses =
        [ "logs"
        , nodeBlocks.name
        , events.finalized.name
        , events.started.name
        , events.caughtUp.name
        , events.proposed.name
        , events.complained.name
        ]
      , columns =
        [ c.node
        , c.starts
        , c.firstHeight
        , c.lastHeight
        , c.blocks
        , c.blocksCaughtUp
        , c.transactions
        , c.intervalAverage
        , c.intervalGreatest
        , c.catchingUp
        , c.proposals
        , c.complaints
        ]
      , key = [ "node" ]
      , checks =
        [ S.Check::{
          , code = "no-commit"
          , sql = ../../queries/cometbft/checks/no_commit.sql as Text
          , uses = [ "nodes_logged", "logs" ]
          , message =
              "no block is committed in the logs of {nodes} ({lines} lines, {starts} starts, {proposals} proposals received)"
          , hint = "does the node run without the others, or is its version one whose messages are not known? docs/cometbft.md lists those that are"
          , severity = "warning"
          }
        ]
      , doc = "Nodes, out of their logs"
      }

let rotation =
      S.Relation::{
      , name = "rotation"
      , sql = ../../queries/cometbft/rotation.sql as Text
      , uses = [ events.height.name, windows.name ]
      , columns = [ c.name, c.from, c.to ]
      , key = [ "name" ]
      , doc = "From when to when rotating nodes are watched; no row where there are none"
      }

in  { column = c, experiments, windows, transactions, runTransactions, nodeBlocks, nodes, rotation }
