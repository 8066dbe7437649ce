-- An example of each word of the language. `pytest tests/project/test_words.py --accept` writes docs/spec-language/words.md
-- from these files: from cases, and from what stands below a comment such as `WORDS => METRICS`.
let S = ../schema/package.dhall

let List/map = ../Prelude/List/map.dhall

let Q = S.example

let source = ./source.dhall

let case = ./case.dhall

let reads = ./fields.dhall

let instants = ./instants.dhall

let reports = ./reports.dhall

let blocks = ./blocks.dhall

let hosts = ./hosts.dhall

let Read = { word : Text, field : S.Field, equals : S.Expression }

let readFields = List/map Read S.Field (\(r : Read) -> r.field) reads

-- The record `read` has all fields of the examples, and the unit of one of them.
let read =
      S.event.event
        { name = "read"
        , source = source.log.name
        , names = [ "read" ]
        , fields = readFields # [ S.event.text "time_unit" ]
        , doc = "A record"
        }

let records = S.grain.eachRecord { name = "records", event = read, fields = readFields, doc = "A record" }

-- A field has the expected value on one row.
let caseOf =
      \(r : Read) ->
        { metric =
            S.Metric::{
            , id = r.word
            , name = r.word
            , grain = records.grain.name
            , measure = S.x.natural 1
            , where = r.equals
            , unit = S.unit.count
            , doc = r.word
            }
        , samples = [ "1" ]
        }

let cases = ./expressions.dhall # ./units.dhall # List/map Read case.Case caseOf reads # instants.expect

let expect = \(c : case.Case) -> Q.samples c.metric c.samples

-- Q.file, Q.lines, Q.samples, Q.none => test
let lines =
      S.Example::{
      , name = "one row"
      , files =
        [ Q.file "meta.json" "{\"version\": \"a\", \"start\": \"2026-03-02T08:59:00Z\", \"middle\": \"2026-03-02T09:00:20Z\", \"slot\": 20, \"parts\": 3, \"units\": \"\"}"
        , Q.file "log.jsonl" (Q.lines [ "{\"event\":\"ended\",\"ended\":\"2026-03-02T09:00:30Z\",\"data\":{}}" ])
        , Q.file "rows.csv" (Q.lines [ "at,n,a,b,name,ok", "2026-03-02T09:00:00Z,1,7,0,web-1,true" ])
        ]
      , expect = [ Q.samples reports.number [ "1" ], Q.none instants.times ]
      }

in  S.Package::{
    , system = "words"
    , units = [ { name = "row", doc = "A row of a table" } ]
    , derivedUnits = [ { name = "kilorow", factor = "1000", of = "row", doc = "A thousand rows" } ]
    , sources = [ source.table, source.log, source.trials, source.samples ] # hosts.sources
    , events = [ source.row, read ] # instants.events # blocks.events # hosts.events
    , relations = [ source.rows.relation, records.relation ] # instants.relations # reports.relations # blocks.relations # hosts.relations
    , grains = [ source.rows.grain, records.grain ] # instants.grains # reports.grains # blocks.grains # hosts.grains
    , metrics = List/map case.Case S.Metric.Type (\(c : case.Case) -> c.metric) cases # reports.metrics # blocks.metrics # hosts.metrics
    , filters = reports.filters
    , coverage = hosts.coverage
    , filterFiles = reports.filterFiles
    , cuts = reports.cuts
    , reports = reports.reports # [ hosts.report ] # blocks.reports
    , series = blocks.series # reports.series # instants.series
    , summaries = [ S.Summary::{ name = "all", doc = "All samples count alike" } ]
    , examples =
      [ lines
      , S.Example::{
        , name = "words"
        , files =
          [ Q.file "meta.json" (../../runs/before/meta.json as Text)
          , Q.file "log.jsonl" (../../runs/before/log.jsonl as Text)
          , Q.file "rows.csv" (../../runs/before/rows.csv as Text)
          , Q.file "samples.om" (../../runs/before/samples.om as Text)
          ]
        , expect = List/map case.Case Q.Expectation expect cases
        }
      ]
    }
