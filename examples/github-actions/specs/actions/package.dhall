-- The jobs of workflow runs of GitHub Actions, from its REST API:
--   gh api 'repos/OWNER/REPOSITORY/actions/runs/RUN/jobs' > jobs.json
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

let api =
      S.Source::{
      , name = "api"
      , kind = "json-records"
      , hosts = ""
      , logs = [ "jobs*.json" ]
      , time = [ "completed_at" ]
      , body = [ "jobs" ]
      , lookups = [] : List S.source.Lookup
      , constants = [ version ]
      , doc = "Jobs of workflow runs"
      }

let field =
      { job = E.at [ "name" ] (E.text "job")
      , conclusion = E.text "conclusion"
      , created = E.at [ "created_at" ] (E.instant "created")
      , started = E.at [ "started_at" ] (E.instant "started")
      , completed = E.at [ "completed_at" ] (E.instant "completed")
      , runner = E.at [ "runner_name" ] (E.text "runner")
      }

let fields = [ field.job, field.conclusion, field.created, field.started, field.completed, field.runner ]

let completed =
      E.event { name = "completed", source = api.name, names = [] : List Text, fields, doc = "A job was completed" }

let jobs = G.eachRecord { name = "jobs", event = completed, fields, doc = "A job of a workflow run" }

let column = \(f : S.Field) -> X.column (G.columnOf f)

let succeeded = X.equals (column field.conclusion) (X.text "success")

let durationOf =
      \(m : { id : Text, name : Text, jobs : Text, doc : Text }) ->
        S.Metric::{
        , id = m.id
        , name = m.name
        , grain = jobs.grain.name
        , measure = X.minus (column field.completed) (column field.started)
        , where = X.all [ succeeded, X.matches (column field.job) m.jobs ]
        , unit = U.second
        , better = "lower"
        , doc = m.doc
        }

let m =
      { queue =
          S.Metric::{
          , id = "queue_time"
          , name = "Waiting for a runner"
          , grain = jobs.grain.name
          , measure = X.minus (column field.started) (column field.created)
          , unit = U.second
          , better = "lower"
          , doc = "Time from the creation of a job to its start"
          }
      , all = durationOf { id = "duration", name = "All jobs", jobs = ".*", doc = "Duration of a successful job" }
      , lint = durationOf { id = "duration_lint", name = "lint", jobs = "lint", doc = "Duration of the job `lint`" }
      , test = durationOf { id = "duration_test", name = "test", jobs = "test.*", doc = "Duration of the jobs `test (...)`" }
      , package =
          durationOf { id = "duration_package", name = "package", jobs = "package", doc = "Duration of the job `package`" }
      , failed =
          S.Metric::{
          , id = "failed_jobs"
          , name = "Failed jobs"
          , grain = jobs.grain.name
          , measure = X.natural 1
          , where = X.not succeeded
          , unit = U.count
          , better = "lower"
          , doc = "Jobs without success"
          }
      }

let times = [ m.queue, m.all, m.lint, m.test, m.package ]

let Q = S.example

let job =
      \(name : Text) ->
      \(conclusion : Text) ->
      \(completed : Text) ->
        "{\"name\":\"${name}\",\"conclusion\":\"${conclusion}\",\"runner_name\":\"r\",\"created_at\":\"2026-03-02T09:00:00Z\",\"started_at\":\"2026-03-02T09:00:05Z\",\"completed_at\":\"2026-03-02T09:${completed}Z\"}"

in  S.Package::{
    , system = "actions"
    , sources = [ api ]
    , events = [ completed ]
    , relations = [ jobs.relation ]
    , grains = [ jobs.grain ]
    , metrics = S.metrics (toMap m)
    , summaries = [ S.Summary::{ name = "all", doc = "All samples count alike" } ]
    , reports =
      [ S.Report::{
        , name = "comparison"
        , title = "CI {others} against {base}"
        , intro = "Waiting times and durations of jobs."
        , manifest = [ R.fact "Version" version (R.text 0) ]
        , sections = [ R.section "Jobs" times // { columns = [ "median", "max" ] } ]
        , charts = [ R.cdf m.all, R.cdf m.queue ]
        , dictionary = [ R.group "Jobs" times ]
        , style = "prefixed"
        , summary = "all"
        , label = version.name
        }
      ]
    , examples =
      [ S.Example::{
        , name = "two jobs"
        , files =
          [ Q.file "meta.json" "{\"version\": \"before\"}"
          , Q.file "jobs.json" "{\"total_count\":2,\"jobs\":[${job "lint" "success" "01:05"},${job "test (3.12)" "failure" "02:00"}]}"
          ]
        , expect =
          [ Q.samples m.queue [ "5", "5" ]
          , Q.samples m.all [ "60" ]
          , Q.samples m.lint [ "60" ]
          , Q.none m.test
          , Q.none m.package
          , Q.samples m.failed [ "1" ]
          ]
        }
      ]
    }
