-- Metrics of experiments, transactions and nodes. Metrics of an experiment have one value per experiment.
let S = ../schema/package.dhall

let X = S.x

let U = S.unit

let D = ./units.dhall

let c = (./relations.dhall).column

let grains = ./grains.dhall

let ofExperiment =
      \(m : { id : Text, name : Text, measure : S.Expression, unit : S.Unit, better : Text, doc : Text }) ->
        S.Metric::(m /\ { grain = grains.experiment.name, accepted = False })

let time =
      \(m : { id : Text, name : Text, measure : S.Expression, doc : Text }) ->
        ofExperiment (m /\ { unit = U.second, better = "lower" })

let transactions =
      \(m : { id : Text, name : Text, measure : S.Expression, better : Text, doc : Text }) ->
        ofExperiment (m /\ { unit = D.transaction })

let ofNode =
      \(m : { id : Text, name : Text, measure : S.Expression, unit : S.Unit, better : Text, doc : Text }) ->
        S.Metric::(m /\ { grain = grains.node.name, accepted = False })

let timeOfNode =
      \(m : { id : Text, name : Text, measure : S.Expression, doc : Text }) ->
        ofNode (m /\ { unit = U.second, better = "lower" })

let countOfNode =
      \(m : { id : Text, name : Text, measure : S.Expression, unit : S.Unit, doc : Text }) ->
        ofNode (m /\ { better = "neither" })

in  { validTxs =
        transactions
          { id = "valid_txs", name = "Transactions", measure = X.column c.validTxs, better = "higher"
          , doc = "Transactions of the load that are in blocks"
          }
    , negative =
        transactions
          { id = "negative_latencies", name = "Negative latencies", measure = X.column c.negative, better = "lower"
          , doc = "Transactions with a block time before their sending time"
          }
    , expected =
        transactions
          { id = "expected_txs", name = "Expected", measure = X.column c.expected, better = "neither"
          , doc = "Transactions that the load tool should send: rate × connections × (length of the experiment - 1 s)"
          }
    , least = time { id = "latency_min", name = "Minimum latency", measure = X.column c.least, doc = "Minimum latency" }
    , greatest = time { id = "latency_max", name = "Maximum latency", measure = X.column c.greatest, doc = "Maximum latency" }
    , average =
        time
          { id = "latency_avg", name = "Average latency", measure = X.column c.average
          , doc = "Mean latency, truncated to whole nanoseconds"
          }
    , deviation =
        time
          { id = "latency_stddev", name = "Standard deviation of latency", measure = X.column c.deviation
          , doc = "Sample standard deviation of the latencies, truncated to whole nanoseconds"
          }
    , throughput =
        ofExperiment
          { id = "throughput", name = "Throughput"
          , measure = X.over (X.column c.validTxs) (X.column c.span)
          , unit = D.transactionPerSecond
          , better = "higher"
          , doc = "Transactions in blocks per second, from the sending of the first transaction in the first block to the last block"
          }
    , sinceStart =
        S.Metric::{
        , id = "since_start"
        , name = "Time since start"
        , grain = grains.transaction.name
        , measure = X.column c.sinceStart
        , accepted = False
        , per = c.experiment.name
        , unit = U.second
        , doc = "Time from the sending of the first transaction to the block of the transaction"
        }
    , latency =
        S.Metric::{
        , id = "latency"
        , name = "Latency"
        , grain = grains.transaction.name
        , measure = X.column c.latency
        , accepted = False
        , per = c.experiment.name
        , unit = U.second
        , better = "lower"
        , doc = "Time from the sending of a transaction to the block after the one that includes it"
        }
    , sinceBegin =
        S.Metric::{
        , id = "since_begin"
        , name = "Time since start of the run"
        , grain = grains.runTransaction.name
        , measure = X.column c.sinceBegin
        , accepted = False
        , per = c.name.name
        , unit = U.second
        , doc = "Time from the start of the first experiment, as a whole second, to the block of the transaction"
        }
    , runLatency =
        S.Metric::{
        , id = "run_latency"
        , name = "Latency in the run"
        , grain = grains.runTransaction.name
        , measure = X.column c.latency
        , accepted = False
        , per = c.name.name
        , unit = U.second
        , better = "lower"
        , doc = "Latency of the transactions of all experiments"
        }
    , blocks =
        ofNode
          { id = "node_blocks_committed", name = "Committed blocks", measure = X.column c.blocks, unit = D.block
          , better = "higher"
          , doc = "Blocks that the node committed, from its log"
          }
    , blocksCaughtUp =
        countOfNode
          { id = "node_blocks_caught_up", name = "Committed while catching up", measure = X.column c.blocksCaughtUp, unit = D.block
          , doc = "Blocks that the node committed between a start and joining consensus"
          }
    , nodeTransactions =
        countOfNode
          { id = "node_txs", name = "Transactions", measure = X.column c.transactions, unit = D.transaction
          , doc = "Transactions in the blocks that the node executed, counting each height once"
          }
    , proposals =
        countOfNode
          { id = "node_proposals", name = "Proposals", measure = X.column c.proposals, unit = D.number
          , doc = "Block proposals that the node received, from its log"
          }
    , complaints =
        ofNode
          { id = "node_complaints", name = "Errors", measure = X.column c.complaints, unit = D.number, better = "lower"
          , doc = "Log lines of the node with level warn or error"
          }
    , starts =
        ofNode
          { id = "node_starts", name = "Starts", measure = X.column c.starts, unit = D.number, better = "lower"
          , doc = "Number of starts of the node, from its log"
          }
    , catchingUp =
        timeOfNode
          { id = "node_catching_up", name = "Catching up", measure = X.column c.catchingUp
          , doc = "Longest time from a start of the node to joining consensus"
          }
    , intervalAverage =
        timeOfNode
          { id = "node_block_interval", name = "Average block interval", measure = X.column c.intervalAverage
          , doc = "Mean time between a node's commits of consecutive blocks, both in consensus, truncated to whole nanoseconds"
          }
    , intervalGreatest =
        timeOfNode
          { id = "node_block_interval_max", name = "Maximum block interval", measure = X.column c.intervalGreatest
          , doc = "Maximum time between a node's commits of consecutive blocks, both in consensus"
          }
    , height =
        S.Metric::{
        , id = "block_height"
        , name = "Height"
        , grain = grains.nodeBlock.name
        , measure = X.column c.height
        , where = X.present (X.column c.interval)
        , accepted = False
        , per = c.node.name
        , unit = D.block
        , doc = "Height of a block that a node committed in consensus, like the block before it"
        }
    , interval =
        S.Metric::{
        , id = "block_interval"
        , name = "Block interval"
        , grain = grains.nodeBlock.name
        , measure = X.column c.interval
        , accepted = False
        , per = c.node.name
        , unit = U.second
        , better = "lower"
        , doc = "Time between a node's commits of consecutive blocks, both in consensus"
        }
    }
