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
          , doc = "Transactions found in blocks, over the time from the first one sent to the last block"
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
    }
