-- A CSV table with one row per job of a nightly batch.
let S = ../schema/package.dhall

let E = S.event

let G = S.grain

let M = S.metric

let Q = S.example

let R = S.report

let U = S.unit

let X = S.x

let version = S.Constant::{ name = "version", files = [ "meta.json" ], path = [ "version" ] }

let table =
      S.Source::{
      , name = "table"
      , kind = "csv"
      , logs = [ "jobs.csv" ]
      , time = [ "finished" ]
      , zone = "UTC"
      , constants = [ version ]
      }

-- The path of a field is the name of its column.
let field =
      { region = E.text "region"
      , job = E.text "job"
      , rows = E.inUnit U.count (E.integer "rows")
      , seconds = E.inUnit U.second (E.real "seconds")
      , memory = E.inUnit U.mebibyte (E.at [ "memory_mib" ] (E.real "memory"))
      , ok = E.boolean "ok"
      }

let fields = [ field.region, field.job, field.rows, field.seconds, field.memory, field.ok ]

let finished = { name = "finished", source = table.name, forms = [ S.Form::{ fields } ], doc = "A job finished" }

let jobs = G.records "jobs" finished "A job"

let succeeded = G.valueOf field.ok

let timeOf =
      \(job : Text) ->
            M.lower jobs.grain U.second "time_${job}" job (G.valueOf field.seconds)
        //  { where = X.all [ succeeded, X.equals (G.valueOf field.job) (X.text job) ], doc = "Duration of the job `${job}`" }

let rate = X.over (G.valueOf field.rows) (G.valueOf field.seconds)

let m =
      { importing = timeOf "import"
      , merging = timeOf "merge"
      , exporting = timeOf "export"
      , throughput =
              M.higher jobs.grain (U.perSecond U.count) "throughput" "Throughput" rate
          //  { where = succeeded, doc = "Rows per second of a job" }
      , memory =
              M.lower jobs.grain U.mebibyte "memory" "Memory" (G.valueOf field.memory)
          //  { where = succeeded, doc = "Peak memory of a job" }
      , failed = M.lower jobs.grain U.count "failed" "Failed" (X.natural 1) // { where = X.not succeeded }
      }

in  S.Package::{
    , system = "jobs"
    , sources = [ table ]
    , events = [ finished ]
    , relations = [ jobs.relation ]
    , grains = [ jobs.grain ]
    , metrics = S.metrics (toMap m)
    , reports =
      [     R.comparison
              [ R.section "Times" [ m.importing, m.merging, m.exporting ] // { columns = [ "median", "p90" ] }
              , R.section "Resources" [ m.throughput, m.memory ]
              ]
        //  R.versions version
        //  { intro = "Jobs of two nights.", charts = [ R.cdf m.importing, R.cdf m.throughput ] }
      ]
    , examples =
      [ S.Example::{
        , name = "three jobs, one of which failed"
        , files =
          [ Q.file "meta.json" "{\"version\": \"a\"}"
          , Q.file
              "jobs.csv"
              ''
              finished,region,job,rows,seconds,memory_mib,ok
              2026-03-02 09:00:00,eu,import,1000,2.5,310,true
              2026-03-02 09:01:00,us,merge,3000,1.5,140,true
              2026-03-02 09:02:00,us,export,10,0.5,60,false
              ''
          ]
        , expect =
          [ Q.samples m.importing [ "2.5" ]
          , Q.samples m.merging [ "1.5" ]
          , Q.none m.exporting
          , Q.samples m.throughput [ "400", "2000" ]
          , Q.samples m.memory [ "140", "310" ]
          , Q.samples m.failed [ "1" ]
          ]
        }
      ]
    }
