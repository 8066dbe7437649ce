-- The event log of Spark (spark.eventLog.enabled): lines of JSON, whose instants are under different keys.
let S = ../schema/package.dhall

let E = S.event

let G = S.grain

let R = S.report

let U = S.unit

let X = S.x

let version =
      S.Constant::{
      , name = "version"
      , files = [ "app-*" ]
      , line = "{{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"{value}\"}}"
      , type = "text"
      , doc = "Version of Spark"
      }

let log =
      S.Source::{
      , name = "log"
      , hosts = ""
      , logs = [ "app-*" ]
      , time = [ "Timestamp" ]
      , timeForm = "ms"
      , body = [] : List Text
      , lookups = [ S.source.nameAt [ "Event" ] ]
      , constants = [ version ]
      , ignored = [ "SparkListenerLogStart", "SparkListenerApplication*", "SparkListenerExecutorAdded" ]
      , doc = "Event log of an application"
      }

let milliseconds = \(path : List Text) -> \(name : Text) -> E.inUnit U.millisecond (E.at path (E.integer name))

let bytes = \(path : List Text) -> \(name : Text) -> E.inUnit U.byte (E.at path (E.integer name))

-- A task that failed has no metrics, so these fields are optional.
let field =
      { stage = E.at [ "Stage ID" ] (E.integer "stage")
      , stageOfInfo = E.at [ "Stage Info", "Stage ID" ] (E.integer "stage")
      , job = E.at [ "Job ID" ] (E.integer "job")
      , failed = E.at [ "Task Info", "Failed" ] (E.boolean "failed")
      , launched = milliseconds [ "Task Info", "Launch Time" ] "launched"
      , finished = milliseconds [ "Task Info", "Finish Time" ] "finished"
      , run = E.optional (milliseconds [ "Task Metrics", "Executor Run Time" ] "run")
      , gc = E.optional (milliseconds [ "Task Metrics", "JVM GC Time" ] "gc")
      , read = E.optional (bytes [ "Task Metrics", "Input Metrics", "Bytes Read" ] "read")
      , shuffled = E.optional (bytes [ "Task Metrics", "Shuffle Write Metrics", "Shuffle Bytes Written" ] "shuffled")
      }

let taskFields =
      [ field.stage, field.failed, field.launched, field.finished, field.run, field.gc, field.read, field.shuffled ]

-- An event of one name, with the path of its own instant.
let event =
      \(name : Text) ->
      \(listener : Text) ->
      \(time : List Text) ->
      \(fields : List S.Field) ->
      \(doc : Text) ->
        E.event { name, source = log.name, names = [ "SparkListener${listener}" ], fields = [ E.time time ] # fields, doc }

let e =
      { task = event "task_ended" "TaskEnd" [ "Task Info", "Finish Time" ] taskFields "A task ended"
      , submitted =
          event "stage_submitted" "StageSubmitted" [ "Stage Info", "Submission Time" ] [ field.stageOfInfo ] "A stage was submitted"
      , completed =
          event "stage_completed" "StageCompleted" [ "Stage Info", "Completion Time" ] [ field.stageOfInfo ] "A stage was completed"
      , jobStart = event "job_started" "JobStart" [ "Submission Time" ] [ field.job ] "A job was submitted"
      , jobEnd = event "job_ended" "JobEnd" [ "Completion Time" ] [ field.job ] "A job ended"
      }

let tasks = G.eachRecord { name = "tasks", event = e.task, fields = taskFields, doc = "A task" }

-- Stages and jobs have two records each: the grain has a row for each first record, and binds the second by its key.
let stages =
      G.eachRecord { name = "stages", event = e.submitted, fields = [ field.stageOfInfo ], doc = "A stage" }

let jobs = G.eachRecord { name = "jobs", event = e.jobStart, fields = [ field.job ], doc = "A job" }

let endOf =
      \(grain : Text) ->
      \(event : S.Event) ->
      \(key : S.Field) ->
        S.Instant::{
        , name = "end"
        , grain
        , pick = "first"
        , of = event.name
        , on = [ G.same (G.columnOf key) key ]
        , doc = event.doc
        }

let stageEnd = endOf stages.grain.name e.completed field.stageOfInfo

let jobEnd = endOf jobs.grain.name e.jobEnd field.job

let column = \(f : S.Field) -> X.column (G.columnOf f)

let ofTask =
      \(m : { id : Text, name : Text, measure : S.Expression, unit : S.Unit, doc : Text }) ->
        S.Metric::(m /\ { grain = tasks.grain.name, where = X.equals (column field.failed) X.no, better = "lower" })

let m =
      { task =
          ofTask
            { id = "task_time"
            , name = "Task"
            , measure = X.minus (column field.finished) (column field.launched)
            , unit = U.millisecond
            , doc = "Time from the launch of a task to its end"
            }
      , run =
          ofTask
            { id = "run_time"
            , name = "Task run time"
            , measure = column field.run
            , unit = U.millisecond
            , doc = "Time that the executor ran the task"
            }
      , gc =
          ofTask
            { id = "gc_share"
            , name = "Task GC share"
            , measure = X.over (column field.gc) (column field.run)
            , unit = U.percent
            , doc = "Garbage collection, as a share of the run time"
            }
      , failed =
              ofTask
                { id = "failed_tasks", name = "Failed tasks", measure = X.natural 1, unit = U.count, doc = "Failed tasks" }
          //  { where = X.equals (column field.failed) X.yes }
      , stage =
          S.Metric::{
          , id = "stage_time"
          , name = "Stage"
          , grain = stages.grain.name
          , measure = S.elapsed { from = [ stages.at ], to = stageEnd }
          , unit = U.second
          , better = "lower"
          , doc = "Time from the submission of a stage to its completion"
          }
      , job =
          S.Metric::{
          , id = "job_time"
          , name = "Job"
          , grain = jobs.grain.name
          , measure = S.elapsed { from = [ jobs.at ], to = jobEnd }
          , unit = U.second
          , better = "lower"
          , doc = "Time from the submission of a job to its end"
          }
      , read =
          ofTask
            { id = "read", name = "Task input", measure = column field.read, unit = U.mebibyte, doc = "Input bytes per task" }
      , shuffled =
          ofTask
            { id = "shuffled"
            , name = "Task shuffle output"
            , measure = column field.shuffled
            , unit = U.kibibyte
            , doc = "Bytes that a task wrote for the next stage"
            }
      }

let times = [ m.job, m.stage, m.task, m.run, m.gc ]

let sizes = [ m.read, m.shuffled ]

let Q = S.example

let task =
      \(id : Text) ->
      \(failed : Text) ->
      \(finish : Text) ->
      \(metrics : Text) ->
        "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0,\"Task Info\":{\"Task ID\":${id},\"Launch Time\":1772442000100,\"Finish Time\":${finish},\"Failed\":${failed}}${metrics}}"

in  S.Package::{
    , system = "spark"
    , sources = [ log ]
    , events = [ e.task, e.submitted, e.completed, e.jobStart, e.jobEnd ]
    , relations = [ tasks.relation, stages.relation, jobs.relation ]
    , grains =
      [ tasks.grain
      , stages.grain // { instants = [ stages.at, stageEnd ] }
      , jobs.grain // { instants = [ jobs.at, jobEnd ] }
      ]
    , metrics = S.metrics (toMap m)
    , summaries = [ S.Summary::{ name = "all", doc = "All samples count alike" } ]
    , reports =
      [ S.Report::{
        , name = "comparison"
        , title = "Spark {others} against {base}"
        , intro = "Jobs, stages and tasks of one application."
        , manifest = [ R.fact "Version" version (R.text 0) ]
        , sections =
          [ R.section "Times" times, R.section "Sizes" sizes // { doc = "Sizes of successful tasks" } ]
        , charts = [ R.cdf m.task, R.cdf m.gc ]
        , dictionary = [ R.group "Times" times, R.group "Sizes" sizes ]
        , style = "prefixed"
        , summary = "all"
        , label = version.name
        }
      ]
    , examples =
      [ S.Example::{
        , name = "a job of one stage with two tasks, one of which failed"
        , files =
          [ Q.file
              "app-1"
              ( Q.lines
                  [ "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.1\"}"
                  , "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":0,\"Submission Time\":1772442000000}"
                  , "{\"Event\":\"SparkListenerStageSubmitted\",\"Stage Info\":{\"Stage ID\":0,\"Submission Time\":1772442000050}}"
                  , task
                      "0"
                      "false"
                      "1772442000600"
                      ",\"Task Metrics\":{\"Executor Run Time\":480,\"JVM GC Time\":12,\"Input Metrics\":{\"Bytes Read\":1048576},\"Shuffle Write Metrics\":{\"Shuffle Bytes Written\":2048}}"
                  , task "1" "true" "1772442000700" ""
                  , "{\"Event\":\"SparkListenerStageCompleted\",\"Stage Info\":{\"Stage ID\":0,\"Submission Time\":1772442000050,\"Completion Time\":1772442000800}}"
                  , "{\"Event\":\"SparkListenerJobEnd\",\"Job ID\":0,\"Completion Time\":1772442001000}"
                  ]
              )
          ]
        , expect =
          [ Q.samples m.job [ "1" ]
          , Q.samples m.stage [ "0.75" ]
          , Q.samples m.task [ "500" ]
          , Q.samples m.run [ "480" ]
          , Q.samples m.gc [ "2.5" ]
          , Q.samples m.failed [ "1" ]
          , Q.samples m.read [ "1" ]
          , Q.samples m.shuffled [ "2" ]
          ]
        }
      ]
    }
