-- A CSV table with one row per job of a nightly batch.
let S = ../schema/package.dhall

let E = S.event

let G = S.grain

let R = S.report

let U = S.unit

let X = S.x

let version =
      S.Constant::{
      , name = "version"
      , files = [ "meta.json" ]
      , path = [ "version" ]
      , type = "text"
      , doc = "Name of the run in reports"
      }

let table =
      S.Source::{
      , name = "table"
      , kind = "csv"
      , hosts = ""
      , logs = [ "jobs.csv" ]
      , time = [ "finished" ]
      , zone = "UTC"
      , body = [] : List Text
      , lookups = [] : List S.source.Lookup
      , constants = [ version ]
      , doc = "Jobs of one night"
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

let finished = E.event { name = "finished", source = table.name, names = [] : List Text, fields, doc = "A job finished" }

let jobs = G.eachRecord { name = "jobs", event = finished, fields, doc = "A job" }

let column = \(f : S.Field) -> X.column (G.columnOf f)

let ofJob =
      \(m : { id : Text, name : Text, measure : S.Expression, unit : S.Unit, better : Text, doc : Text }) ->
        S.Metric::(m /\ { grain = jobs.grain.name, where = column field.ok })

let timeOf =
      \(job : Text) ->
            ofJob
              { id = "time_${job}"
              , name = job
              , measure = column field.seconds
              , unit = U.second
              , better = "lower"
              , doc = "Duration of the job `${job}`"
              }
        //  { where = X.all [ column field.ok, X.equals (column field.job) (X.text job) ] }

let m =
      { importing = timeOf "import"
      , merging = timeOf "merge"
      , exporting = timeOf "export"
      , throughput =
          ofJob
            { id = "throughput"
            , name = "Throughput"
            , measure = X.over (column field.rows) (column field.seconds)
            , unit = U.perSecond U.count
            , better = "higher"
            , doc = "Rows per second of a job"
            }
      , memory =
          ofJob
            { id = "memory"
            , name = "Memory"
            , measure = column field.memory
            , unit = U.mebibyte
            , better = "lower"
            , doc = "Peak memory of a job"
            }
      , failed =
              ofJob
                { id = "failed"
                , name = "Failed"
                , measure = X.natural 1
                , unit = U.count
                , better = "lower"
                , doc = "Failed jobs"
                }
          //  { where = X.not (column field.ok) }
      }

let times = [ m.importing, m.merging, m.exporting ]

let others = [ m.throughput, m.memory ]

let Q = S.example

in  S.Package::{
    , system = "jobs"
    , sources = [ table ]
    , events = [ finished ]
    , relations = [ jobs.relation ]
    , grains = [ jobs.grain ]
    , metrics = S.metrics (toMap m)
    , summaries = [ S.Summary::{ name = "all", doc = "All samples count alike" } ]
    , reports =
      [ S.Report::{
        , name = "comparison"
        , title = "{others} against {base}"
        , intro = "Jobs of two nights."
        , manifest = [ R.fact "Version" version (R.text 0) ]
        , sections = [ R.section "Times" times // { columns = [ "median", "p90" ] }, R.section "Resources" others ]
        , charts = [ R.cdf m.importing, R.cdf m.throughput ]
        , dictionary = [ R.group "Times" times, R.group "Resources" others ]
        , style = "prefixed"
        , summary = "all"
        , label = version.name
        }
      ]
    , examples =
      [ S.Example::{
        , name = "three jobs, one of which failed"
        , files =
          [ Q.file "meta.json" "{\"version\": \"a\"}"
          , Q.file
              "jobs.csv"
              ( Q.lines
                  [ "finished,region,job,rows,seconds,memory_mib,ok"
                  , "2026-03-02 09:00:00,eu,import,1000,2.5,310,true"
                  , "2026-03-02 09:01:00,us,merge,3000,1.5,140,true"
                  , "2026-03-02 09:02:00,us,export,10,0.5,60,false"
                  ]
              )
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
