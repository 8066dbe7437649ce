-- What a QA run leaves: the report of the load tool, and the samples of its Prometheus server.
let S = ../schema/package.dhall

let U = S.unit

let meta = [ "meta.json" ]

let constant =
      { ident =
          S.Constant::{
          , name = "ident"
          , files = meta
          , path = [ "ident" ]
          , type = "text"
          , default = Some "run"
          , doc = "What the run is called in reports"
          }
      , length =
          S.Constant::{
          , name = "experiment_length"
          , files = meta
          , path = [ "experiment_seconds" ]
          , type = "integer"
          , unit = U.second
          , default = Some "90"
          , doc = "How long the load tool sends in an experiment"
          }
      }

let load =
      S.Source::{
      , name = "load"
      , kind = "csv"
      , hosts = ""
      , logs = [ "report/*.csv" ]
      , time = [ "block_time" ]
      , body = [] : List Text
      , lookups = [] : List S.source.Lookup
      , constants = [ constant.ident, constant.length ]
      , doc = "Reports of the load tool: a row a transaction that was found in a block"
      }

let samples =
      S.Source::{
      , name = "samples"
      , kind = "samples"
      , hosts = ""
      , logs = [ "prom/raw*.json", "*.parquet", "*.om" ]
      , time = [] : List Text
      , body = [] : List Text
      , lookups = [] : List S.source.Lookup
      , doc = "Samples of the nodes' metrics, as a Prometheus server has them"
      }

-- The log of a node is a file; what a line is stands in its message, or else in its level.
let logs =
      S.Source::{
      , name = "nodes"
      , hosts = "logs/*.log"
      , hostFiles = True
      , time = [ "ts" ]
      , body = [] : List Text
      , lookups =
        [ { path = [ "_msg" ], inBody = False, drop = "", generation = "message" }
        , { path = [ "level" ], inBody = False, drop = "", generation = "level" }
        ]
      , doc = "Logs of the nodes, as JSON lines"
      }

in  { load, samples, logs, constant }
