-- Metrics of experiments: each is a column of the experiment, and has one value an experiment.
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
          , doc = "Transactions of the load that were found in blocks"
          }
    , negative =
        transactions
          { id = "negative_latencies", name = "Negative latencies", measure = X.column c.negative, better = "lower"
          , doc = "Transactions whose block's time is before they were sent"
          }
    , expected =
        transactions
          { id = "expected_txs", name = "Expected", measure = X.column c.expected, better = "neither"
          , doc = "Transactions that the load tool meant to send: its rate over all but one second"
          }
    , least = time { id = "latency_min", name = "Least latency", measure = X.column c.least, doc = "Least latency" }
    , greatest = time { id = "latency_max", name = "Greatest latency", measure = X.column c.greatest, doc = "Greatest latency" }
    , average =
        time
          { id = "latency_avg", name = "Average latency", measure = X.column c.average
          , doc = "Sum of the latencies divided by their number, cut to whole nanoseconds"
          }
    , deviation =
        time
          { id = "latency_stddev", name = "Deviation of latencies", measure = X.column c.deviation
          , doc = "Sample deviation of the latencies, cut to whole nanoseconds"
          }
    , throughput =
        ofExperiment
          { id = "throughput", name = "Throughput"
          , measure = X.over (X.column c.validTxs) (X.column c.span)
          , unit = D.transactionPerSecond
          , better = "higher"
          , doc = "Transactions found in blocks, over the time from the first sent of the first block to the last block"
          }
    , sinceStart =
        S.Metric::{
        , id = "since_start"
        , name = "Time of the block"
        , grain = grains.transaction.name
        , measure = X.column c.sinceStart
        , accepted = False
        , per = c.experiment.name
        , unit = U.second
        , doc = "From the first transaction sent to the transaction's block"
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
        , doc = "From the sending of a transaction to the block after the one that holds it"
        }
    , sinceBegin =
        S.Metric::{
        , id = "since_begin"
        , name = "Time of the block in the run"
        , grain = grains.runTransaction.name
        , measure = X.column c.sinceBegin
        , accepted = False
        , per = c.name.name
        , unit = U.second
        , doc = "From the whole second at which the first experiment began to the transaction's block"
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
        , doc = "As latency, of the transactions of all experiments together"
        }
    , blocks =
        ofNode
          { id = "node_blocks_committed", name = "Blocks committed", measure = X.column c.blocks, unit = D.block
          , better = "higher"
          , doc = "Blocks that the node has committed, by its log"
          }
    , blocksCaughtUp =
        countOfNode
          { id = "node_blocks_caught_up", name = "While catching up", measure = X.column c.blocksCaughtUp, unit = D.block
          , doc = "Of the blocks that the node has committed, those from a start until it joined consensus"
          }
    , nodeTransactions =
        countOfNode
          { id = "node_txs", name = "Transactions", measure = X.column c.transactions, unit = D.transaction
          , doc = "Transactions in the blocks that the node has worked out, each height once"
          }
    , proposals =
        countOfNode
          { id = "node_proposals", name = "Proposals", measure = X.column c.proposals, unit = D.number
          , doc = "Proposals of blocks that the node has received, by its log"
          }
    , complaints =
        ofNode
          { id = "node_complaints", name = "Errors", measure = X.column c.complaints, unit = D.number, better = "lower"
          , doc = "Lines of level warn or error in the node's log"
          }
    , starts =
        ofNode
          { id = "node_starts", name = "Starts", measure = X.column c.starts, unit = D.number, better = "lower"
          , doc = "How often the node has started, by its log"
          }
    , catchingUp =
        timeOfNode
          { id = "node_catching_up", name = "Catching up", measure = X.column c.catchingUp
          , doc = "Longest time from a start of the node to its joining consensus"
          }
    , intervalAverage =
        timeOfNode
          { id = "node_block_interval", name = "Average block interval", measure = X.column c.intervalAverage
          , doc = "Mean time from a node's commit of a block to that of the next, both in consensus, cut to whole nanoseconds"
          }
    , intervalGreatest =
        timeOfNode
          { id = "node_block_interval_max", name = "Greatest block interval", measure = X.column c.intervalGreatest
          , doc = "Greatest time from a node's commit of a block to that of the next, both in consensus"
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
        , doc = "Height of a block that a node has committed in consensus, as the one before it"
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
        , doc = "From a node's commit of a block to that of the next, both in consensus"
        }
    }
