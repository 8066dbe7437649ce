-- The jobs of workflow runs of GitHub Actions, from its REST API:
--   gh api 'repos/OWNER/REPOSITORY/actions/runs/RUN/jobs' > jobs.json
let S = ../schema/package.dhall

let E = S.event

let G = S.grain

let Q = S.example

let R = S.report

let X = S.x

let version = S.Constant::{ name = "version", files = [ "meta.json" ], path = [ "version" ] }

let api =
      S.Source::{
      , name = "api"
      , kind = "json-records"
      , logs = [ "jobs*.json" ]
      , time = [ "completed_at" ]
      , body = [ "jobs" ]
      , constants = [ version ]
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

let completed = { name = "completed", source = api.name, forms = [ S.Form::{ fields } ], doc = "A job was completed" }

let jobs = G.records "jobs" completed "A job of a workflow run"

let succeeded = X.equals (G.valueOf field.conclusion) (X.text "success")

let time = S.metric.lower jobs.grain S.unit.second

let durationOf =
      \(names : Text) ->
      \(id : Text) ->
      \(name : Text) ->
            time id name (X.minus (G.valueOf field.completed) (G.valueOf field.started))
        //  { where = X.all [ succeeded, X.matches (G.valueOf field.job) names ] }

let m =
      { queue =
              time "queue_time" "Waiting for a runner" (X.minus (G.valueOf field.started) (G.valueOf field.created))
          //  { doc = "Time from the creation of a job to its start" }
      , all = durationOf ".*" "duration" "All jobs" // { doc = "Duration of a successful job" }
      , lint = durationOf "lint" "duration_lint" "lint" // { doc = "Duration of the job `lint`" }
      , test = durationOf "test.*" "duration_test" "test" // { doc = "Duration of the jobs `test (...)`" }
      , package = durationOf "package" "duration_package" "package" // { doc = "Duration of the job `package`" }
      , failed = S.metric.lower jobs.grain S.unit.count "failed_jobs" "Failed jobs" (X.natural 1) // { where = X.not succeeded }
      }

let job =
      \(name : Text) ->
      \(conclusion : Text) ->
      \(completed : Text) ->
        ''
        {"name":"${name}","conclusion":"${conclusion}","runner_name":"r","created_at":"2026-03-02T09:00:00Z","started_at":"2026-03-02T09:00:05Z","completed_at":"2026-03-02T09:${completed}Z"}''

in  S.Package::{
    , system = "actions"
    , sources = [ api ]
    , events = [ completed ]
    , relations = [ jobs.relation ]
    , grains = [ jobs.grain ]
    , metrics = S.metrics (toMap m)
    , reports =
      [     R.comparison
              [ R.section "Jobs" [ m.queue, m.all, m.lint, m.test, m.package ] // { columns = [ "median", "max" ] } ]
        //  R.versions version
        //  { title = "CI {others} against {base}"
            , intro = "Waiting times and durations of jobs."
            , charts = [ R.cdf m.all, R.cdf m.queue ]
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
