-- The data that all examples read: a table and a log.
let S = ../schema/package.dhall

let E = S.event

let U = S.unit

let fact =
      \(name : Text) ->
      \(type : Text) ->
        S.Constant::{ name, files = [ "meta.json" ], path = [ name ], type }

let constant =
      { version = fact "version" "text"
      , start = fact "start" "instant"
      , slot = fact "slot" "duration" // { unit = U.second }
      , parts = fact "parts" "integer" // { doc = "Parts" }
      , middle = fact "middle" "instant"
      , units = fact "units" "text"
      , note = fact "note" "text" // { default = Some "" }
      }

let table =
      S.Source::{
      , name = "table"
      , kind = "csv"
      , hosts = ""
      , logs = [ "rows.csv" ]
      , time = [ "at" ]
      , body = [] : List Text
      , lookups = [] : List S.source.Lookup
      , constants = [ constant.version, constant.start, constant.middle, constant.slot, constant.parts, constant.units, constant.note ]
      }

let trials = table // { name = "trials", logs = [ "trials.csv" ], constants = [] : List S.Constant.Type }

let samples =
      S.Source::{
      , name = "samples"
      , kind = "samples"
      , hosts = ""
      , logs = [ "samples.om" ]
      , time = [] : List Text
      , body = [] : List Text
      , lookups = [] : List S.source.Lookup
      }

let log =
      S.Source::{
      , name = "log"
      , hosts = ""
      , logs = [ "log.jsonl" ]
      , time = [ "ts" ]
      , body = [ "data" ]
        -- S.source.nameAt => times_of_requests
      , lookups = [ S.source.nameAt [ "event" ] ]
      }

let field =
      { n = E.integer "n"
      , a = E.optional (E.integer "a")
      , b = E.integer "b"
      , name = E.text "name"
      , ok = E.boolean "ok"
      }

let fields = [ field.n, field.a, field.b, field.name, field.ok ]

let row = E.event { name = "row", source = table.name, names = [] : List Text, fields, doc = "A row of the table" }

let rows = S.grain.eachRecord { name = "rows", event = row, fields, doc = "A row of the table" }

in  { constant, table, trials, samples, log, field, fields, row, rows }
