-- Metrics of experiments, transactions and nodes. Metrics of an experiment have one value per experiment.
let S = ../schema/package.dhall

let X = S.x

let U = S.unit

let D = ./units.dhall

let c = (./relations.dhall).column

let grains = ./grains.dhall

let unfiltered = \(grain : S.Grain.Type) -> (S.metricOf grain) with default.accepted = False

let ofExperiment = unfiltered grains.experiment

let ofTransaction = (unfiltered grains.transaction) with default.per = c.experiment.name

let ofRunTransaction = (unfiltered grains.runTransaction) with default.per = c.name.name

let ofNode = unfiltered grains.node

let ofNodeBlock = (unfiltered grains.nodeBlock) with default.per = c.node.name

in  { validTxs =
        ofExperiment::{
        , id = "valid_txs", name = "Transactions"
        , measure = X.column c.validTxs, unit = D.transaction, better = "higher"
        , doc = "Transactions of the load that are in blocks"
        }
    , negative =
        ofExperiment::{
        , id = "negative_latencies", name = "Negative latencies"
        , measure = X.column c.negative, unit = D.transaction, better = "lower"
        , doc = "Transactions with a block time before their sending time"
        }
    , expected =
        ofExperiment::{
        , id = "expected_txs", name = "Expected", measure = X.column c.expected, unit = D.transaction
        , doc = "Transactions that the load tool should send: rate × connections × (length of the experiment - 1 s)"
        }
    , least =
        ofExperiment::{
        , id = "latency_min", name = "Minimum latency"
        , measure = X.column c.least, unit = U.second, better = "lower"
        , doc = "Minimum latency"
        }
    , greatest =
        ofExperiment::{
        , id = "latency_max", name = "Maximum latency"
        , measure = X.column c.greatest, unit = U.second, better = "lower"
        , doc = "Maximum latency"
        }
    , average =
        ofExperiment::{
        , id = "latency_avg", name = "Average latency"
        , measure = X.column c.average, unit = U.second, better = "lower"
        , doc = "Mean latency, truncated to whole nanoseconds"
        }
    , deviation =
        ofExperiment::{
        , id = "latency_stddev", name = "Standard deviation of latency"
        , measure = X.column c.deviation, unit = U.second, better = "lower"
        , doc = "Sample standard deviation of the latencies, truncated to whole nanoseconds"
        }
    , throughput =
        ofExperiment::{
        , id = "throughput", name = "Throughput"
        , measure = X.over (X.column c.validTxs) (X.column c.span), unit = D.transactionPerSecond, better = "higher"
        , doc = "Transactions in blocks per second, from the sending of the first transaction in the first block to the last block"
        }
    , sinceStart =
        ofTransaction::{
        , id = "since_start"
        , name = "Time since start"
        , measure = X.column c.sinceStart
        , unit = U.second
        , doc = "Time from the sending of the first transaction to the block of the transaction"
        }
    , latency =
        ofTransaction::{
        , id = "latency"
        , name = "Latency"
        , measure = X.column c.latency
        , unit = U.second
        , better = "lower"
        , doc = "Time from the sending of a transaction to the block after the one that includes it"
        }
    , sinceBegin =
        ofRunTransaction::{
        , id = "since_begin"
        , name = "Time since start of the run"
        , measure = X.column c.sinceBegin
        , unit = U.second
        , doc = "Time from the start of the first experiment, as a whole second, to the block of the transaction"
        }
    , runLatency =
        ofRunTransaction::{
        , id = "run_latency"
        , name = "Latency in the run"
        , measure = X.column c.latency
        , unit = U.second
        , better = "lower"
        , doc = "Latency of the transactions of all experiments"
        }
    , blocks =
        ofNode::{
        , id = "node_blocks_committed", name = "Committed blocks"
        , measure = X.column c.blocks, unit = D.block, better = "higher"
        , doc = "Blocks that the node committed, from its log"
        }
    , blocksCaughtUp =
        ofNode::{
        , id = "node_blocks_caught_up", name = "Committed while catching up"
        , measure = X.column c.blocksCaughtUp, unit = D.block
        , doc = "Blocks that the node committed between a start and joining consensus"
        }
    , nodeTransactions =
        ofNode::{
        , id = "node_txs", name = "Transactions", measure = X.column c.transactions, unit = D.transaction
        , doc = "Transactions in the blocks that the node executed, counting each height once"
        }
    , proposals =
        ofNode::{
        , id = "node_proposals", name = "Proposals", measure = X.column c.proposals, unit = D.number
        , doc = "Block proposals that the node received, from its log"
        }
    , complaints =
        ofNode::{
        , id = "node_complaints", name = "Errors"
        , measure = X.column c.complaints, unit = D.number, better = "lower"
        , doc = "Log lines of the node with level warn or error"
        }
    , starts =
        ofNode::{
        , id = "node_starts", name = "Starts", measure = X.column c.starts, unit = D.number, better = "lower"
        , doc = "Number of starts of the node, from its log"
        }
    , catchingUp =
        ofNode::{
        , id = "node_catching_up", name = "Catching up"
        , measure = X.column c.catchingUp, unit = U.second, better = "lower"
        , doc = "Longest time from a start of the node to joining consensus"
        }
    , intervalAverage =
        ofNode::{
        , id = "node_block_interval", name = "Average block interval"
        , measure = X.column c.intervalAverage, unit = U.second, better = "lower"
        , doc = "Mean time between a node's commits of consecutive blocks, both in consensus, truncated to whole nanoseconds"
        }
    , intervalGreatest =
        ofNode::{
        , id = "node_block_interval_max", name = "Maximum block interval"
        , measure = X.column c.intervalGreatest, unit = U.second, better = "lower"
        , doc = "Maximum time between a node's commits of consecutive blocks, both in consensus"
        }
    , height =
        ofNodeBlock::{
        , id = "block_height"
        , name = "Height"
        , measure = X.column c.height
        , where = X.present (X.column c.interval)
        , unit = D.block
        , doc = "Height of a block that a node committed in consensus, like the block before it"
        }
    , interval =
        ofNodeBlock::{
        , id = "block_interval"
        , name = "Block interval"
        , measure = X.column c.interval
        , unit = U.second
        , better = "lower"
        , doc = "Time between a node's commits of consecutive blocks, both in consensus"
        }
    }
