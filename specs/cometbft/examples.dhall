-- Examples: what the load metrics come to over an experiment of three transactions.
let S = ../schema/package.dhall

let Q = S.example

let m = ./metrics.dhall

let of = Q.samples

let meta = Q.file "meta.json" "{\"ident\": \"example\", \"experiment_seconds\": 30}"

-- A row of the load tool's report: times in ns since 1970-01-01.
let row =
      \(experiment : Text) -> \(time : Text) -> \(duration : Text) -> \(hash : Text) ->
        "${experiment},${time},${duration},${hash},1,200,1024"

in  [ S.Example::{
      , name = "an experiment of three transactions, and one of a single"
      , files =
        [ meta
        , Q.file
            "report/raw.csv"
            ( Q.lines
                [ "experiment_id,block_time,duration_ns,tx_hash,connections,rate,size"
                , row "e1" "1767225602000000000" "1000000000" "A1"
                , row "e1" "1767225604000000000" "2500000000" "A2"
                , row "e1" "1767225605000000000" "4000000001" "A3"
                , row "e2" "1767225700000000000" "-500000000" "B1"
                ]
            )
        ]
      , expect =
        [ of m.validTxs [ "1", "3" ]
        , of m.negative [ "0", "1" ]
        , of m.expected [ "5800", "5800" ]
        , of m.least [ "-0.5", "1" ]
        , of m.greatest [ "-0.5", "4.000000001" ]
        , of m.average [ "-0.5", "2.5" ]
        , of m.deviation [ "1.5" ]
        , of m.latency [ "-0.5", "1", "2.5", "4.000000001" ]
        , of m.sinceStart [ "-0.5", "1", "3", "4" ]
        , of m.throughput [ "-2", "0.75" ]
        ]
      , doc = "Whole nanoseconds: averages are cut, not rounded"
      }
    ]
