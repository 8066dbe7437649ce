-- Relations: experiments, windows of series, transactions, nodes and their blocks.
let S = ../schema/package.dhall

let G = S.grain

let U = S.unit

let D = ./units.dhall

let events = ./events.dhall

let column = G.column

let c =
      { experiment = column "text" "experiment_id" U.none "Id of the experiment"
      , number = column "integer" "number" U.none "Number of the experiment in the order of time, from 1"
      , connections = column "integer" "connections" D.connection "Connections of the load tool"
      , rate = column "integer" "rate" D.transactionPerSecond "Transactions per second on each connection"
      , size = column "integer" "size" U.byte "Size of a transaction"
      , validTxs = column "integer" "valid_txs" D.transaction "Transactions in blocks"
      , negative = column "integer" "negative_latencies" D.transaction "Transactions in blocks with a negative latency"
      , least = column "integer" "latency_min" U.nanosecond "Minimum latency"
      , greatest = column "integer" "latency_max" U.nanosecond "Maximum latency"
      , average = column "integer" "latency_avg" U.nanosecond "Mean latency, truncated to whole ns"
      , deviation = column "integer" "latency_stddev" U.nanosecond "Sample standard deviation of the latencies, truncated to whole ns"
      , firstSent = column "instant" "first_sent" U.nanosecond "Time at which the first transaction of the first block was sent"
      , firstBlock = column "instant" "first_block" U.nanosecond "Time of the first block"
      , lastBlock = column "instant" "last_block" U.nanosecond "Time of the last block"
      , span = column "integer" "span" U.nanosecond "Time from the sending of the first transaction to the last block"
      , expected = column "integer" "expected_txs" D.transaction "Transactions that the load tool should send"
      , name = column "text" "name" U.none "Name of the window"
      , from = column "instant" "from_ns" U.nanosecond "First step"
      , to = column "instant" "to_ns" U.nanosecond "Last step"
      , place = column "integer" "place" U.none "Position in the load report"
      , blockTime = column "instant" "block_time" U.nanosecond "Time of the block"
      , latency = column "integer" "latency" U.nanosecond "Time from sending to the block after the one that includes the transaction"
      , sinceBegin = column "integer" "since_begin" U.nanosecond "Time from the start of the window to the block"
      , sinceStart = column "integer" "since_start" U.nanosecond "Time from the sending of the first transaction to the block"
      , node = column "text" "node" U.none "Name of the node"
      , height = column "integer" "height" D.block "Height of the block"
      , committedAt = column "instant" "committed_at" U.nanosecond "Time at which the node committed the block"
      , inConsensus = column "boolean" "in_consensus" U.none "Whether the node was in consensus, not catching up"
      , interval = column "integer" "block_interval" U.nanosecond "Time since the commit of the previous block, both in consensus"
      , starts = column "integer" "starts" D.number "Number of starts of the node"
      , firstHeight = column "integer" "first_height" D.block "Height of the node's first block"
      , lastHeight = column "integer" "last_height" D.block "Height of the node's last block"
      , blocks = column "integer" "blocks" D.block "Blocks that the node committed"
      , blocksCaughtUp = column "integer" "blocks_caught_up" D.block "Blocks that the node committed while catching up"
      , transactions = column "integer" "transactions" D.transaction "Transactions in the blocks that the node executed"
      , intervalAverage = column "integer" "interval_avg" U.nanosecond "Mean block interval, truncated to whole ns"
      , intervalGreatest = column "integer" "interval_max" U.nanosecond "Maximum block interval"
      , catchingUp = column "integer" "catching_up" U.nanosecond "Longest time from a start to joining consensus"
      , proposals = column "integer" "proposals" D.number "Proposals that the node received"
      , complaints = column "integer" "complaints" D.number "Log lines of the node with level warn or error"
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
          , message = "experiment {experiment_id}: {transactions} transactions, such as {example}, are in the load reports up to {times} times and would be counted as often"
          , hint = "keep one load report per experiment: a copy, or the report of another node, has the same transactions"
          }
        , S.Check::{
          , code = "in-several-blocks"
          , sql = ../../queries/cometbft/checks/in_several_blocks.sql as Text
          , uses = [ events.loaded.name ]
          , message = "experiment {experiment_id}: {transactions} transactions, such as {example}, are in up to {times} blocks, and count in each"
          , hint = ""
          , severity = "warning"
          }
        , S.Check::{
          , code = "several-configurations"
          , sql = ../../queries/cometbft/checks/several_configurations.sql as Text
          , uses = [ events.loaded.name ]
          , message = "experiment {experiment_id} has {configurations} configurations: {settings}"
          , hint = "an experiment has one number of connections, one rate and one size: use one id per configuration"
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
      , doc = "Time range of the series"
      }

let transactions =
      S.Relation::{
      , name = "transactions"
      , sql = ../../queries/cometbft/transactions.sql as Text
      , uses = [ events.loaded.name, experiments.name ]
      , columns = [ c.experiment, c.place, c.connections, c.rate, c.blockTime, c.sinceStart, c.latency ]
      , key = [ "experiment_id", "place" ]
      , doc = "Transactions of the load that are in blocks"
      }

let runTransactions =
      S.Relation::{
      , name = "run_transactions"
      , sql = ../../queries/cometbft/run_transactions.sql as Text
      , uses = [ events.loaded.name, windows.name ]
      , columns = [ c.name, c.place, c.sinceBegin, c.latency ]
      , key = [ "name", "place" ]
      , doc = "Transactions of the load that are in blocks, over the time range of all experiments"
      }

let nodeBlocks =
      S.Relation::{
      , name = "node_blocks"
      , sql = ../../queries/cometbft/node_blocks.sql as Text
      , uses = [ events.started.name, events.caughtUp.name, events.committed.name ]
      , columns = [ c.node, c.height, c.committedAt, c.inConsensus, c.interval ]
      , key = [ "node", "height" ]
      , doc = "Blocks that nodes committed, from their logs"
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
              "the logs of {nodes} have no committed block ({lines} lines, {starts} starts, {proposals} proposals received)"
          , hint = "check that the node has peers, and that docs/cometbft.md lists its version"
          , severity = "warning"
          }
        ]
      , doc = "Nodes, from their logs"
      }

let rotation =
      S.Relation::{
      , name = "rotation"
      , sql = ../../queries/cometbft/rotation.sql as Text
      , uses = [ events.height.name, windows.name ]
      , columns = [ c.name, c.from, c.to ]
      , key = [ "name" ]
      , doc = "Time range of the samples of rotating nodes; no row if there are none"
      }

in  { column = c, experiments, windows, transactions, runTransactions, nodeBlocks, nodes, rotation }
