-- The load tool's own summaries of its experiments, as published: source, event, relation, grain and metrics.
let S = ../schema/package.dhall

let E = S.event

let X = S.x

let U = S.unit

let D = ./units.dhall

let c = (./relations.dhall).column

let source =
      S.Source::{
      , name = "summaries"
      , kind = "blocks"
      , begins = "Experiment ID"
      , hosts = ""
      , logs = [ "*_report_tabbed.txt", "report/report_*.txt", "report_tabbed.txt", "results/report.txt" ]
      , time = [] : List Text
      , body = [] : List Text
      , lookups = [] : List S.source.Lookup
        -- Tolerates one malformed row of blocks of a published table.
      , quarantine = { share = 0.34, atLeast = 0 }
      , doc = "Summaries of experiments, printed by the load tool"
      }

let number = \(name : Text) -> \(unit : S.Unit) -> \(key : Text) -> E.inUnit unit (E.at [ key ] (E.integer name))

let time = \(name : Text) -> \(key : Text) -> E.changed [ E.duration ] (number name U.nanosecond key)

let reported =
        { name = "reported"
        , source = source.name
        , forms =
          [ { names = [] : List E.Name
            , unless = [] : List E.Unless
            , fields =
              [ E.at [ "Experiment ID" ] (E.text "experiment_id")
              , number "connections" D.connection "Connections"
              , number "rate" D.transactionPerSecond "Rate"
              , number "size" U.byte "Size"
              , number "valid_txs" D.transaction "Total Valid Tx"
              , number "negative_latencies" D.transaction "Total Negative Latencies"
              , time "latency_min" "Minimum Latency"
              , time "latency_max" "Maximum Latency"
              , time "latency_avg" "Average Latency"
              , time "latency_stddev" "Standard Deviation"
              ]
            }
          ]
        , doc = "An experiment in a summary of the load tool"
        }
      : S.Event

let experiments =
      S.Relation::{
      , name = "reported_experiments"
      , sql = ../../queries/cometbft/reported_experiments.sql as Text
      , uses = [ reported.name ]
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
        , c.expected
        ]
      , key = [ c.experiment.name ]
      , doc = "Experiments in summaries of the load tool"
      }

let grain =
      S.Grain::{
      , name = "reported_experiment"
      , relation = experiments.name
      , key = [ c.experiment.name ]
      , columns = experiments.columns
      , doc = "An experiment in a summary of the load tool"
      }

let metric =
      \(m : { id : Text, name : Text, measure : S.Expression, unit : S.Unit, better : Text, doc : Text }) ->
        S.Metric::(m /\ { grain = grain.name, accepted = False })

let count =
      \(m : { id : Text, name : Text, measure : S.Expression, better : Text, doc : Text }) ->
        metric (m /\ { unit = D.transaction })

let latency =
      \(m : { id : Text, name : Text, measure : S.Expression, doc : Text }) ->
        metric (m /\ { unit = U.second, better = "lower" })

let txs =
      count
        { id = "reported_txs", name = "Transactions", measure = X.column c.validTxs, better = "higher"
        , doc = "Transactions of the load that are in blocks, as reported by the load tool"
        }

let expected =
      count
        { id = "reported_expected", name = "Expected", measure = X.column c.expected, better = "neither"
        , doc = "Transactions that the load tool should send: rate × connections × (length of the experiment - 1 s)"
        }

let negative =
      count
        { id = "reported_negative", name = "Negative latencies", measure = X.column c.negative, better = "lower"
        , doc = "Transactions with a block time before their sending time, as reported by the load tool"
        }

let least =
      latency
        { id = "reported_min", name = "Minimum latency", measure = X.column c.least
        , doc = "Minimum latency, as reported by the load tool"
        }

let greatest =
      latency
        { id = "reported_max", name = "Maximum latency", measure = X.column c.greatest
        , doc = "Maximum latency, as reported by the load tool"
        }

let average =
      latency
        { id = "reported_avg", name = "Average latency", measure = X.column c.average
        , doc = "Average latency, as reported by the load tool"
        }

let deviation =
      latency
        { id = "reported_stddev", name = "Standard deviation of latency", measure = X.column c.deviation
        , doc = "Sample standard deviation of the latencies, as reported by the load tool"
        }

in  { source, reported, experiments, grain, txs, expected, negative, least, greatest, average, deviation }
