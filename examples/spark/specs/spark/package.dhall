-- The event log of Spark (spark.eventLog.enabled): lines of JSON, whose instants are under different keys.
let S = ../schema/package.dhall

let E = S.event

let G = S.grain

let M = S.metric

let Q = S.example

let R = S.report

let U = S.unit

let X = S.x

let version =
      S.Constant::{
      , name = "version"
      , files = [ "app-*" ]
      , line = "{{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"{value}\"}}"
      }

let log =
      S.Source::{
      , name = "log"
      , logs = [ "app-*" ]
      , time = [ "Timestamp" ]
      , timeForm = "ms"
      , lookups = [ S.source.nameAt [ "Event" ] ]
      , constants = [ version ]
      , ignored = [ "SparkListenerLogStart", "SparkListenerApplication*", "SparkListenerExecutorAdded" ]
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

-- Stages and jobs have two records each, with the same key.
let stages =
      G.eachKey { name = "stages", key = field.stageOfInfo, events = [ e.submitted, e.completed ], doc = "A stage" }

let jobs = G.eachKey { name = "jobs", key = field.job, events = [ e.jobStart, e.jobEnd ], doc = "A job" }

let failed = G.valueOf field.failed

let ofTask =
      \(unit : S.Unit) ->
      \(id : Text) ->
      \(name : Text) ->
      \(measure : S.Expression) ->
        M.lower tasks.grain unit id name measure // { where = X.equals failed X.no }

let taskTime = X.minus (G.valueOf field.finished) (G.valueOf field.launched)

let gcShare = X.over (G.valueOf field.gc) (G.valueOf field.run)

let m =
      { task = ofTask U.millisecond "task_time" "Task" taskTime // { doc = "Time from the launch of a task to its end" }
      , run =
              ofTask U.millisecond "run_time" "Task run time" (G.valueOf field.run)
          //  { doc = "Time that the executor ran the task" }
      , gc =
          ofTask U.percent "gc_share" "Task GC share" gcShare // { doc = "Garbage collection, as a share of the run time" }
      , failed =
          ofTask U.count "failed_tasks" "Failed tasks" (X.natural 1) // { where = X.equals failed X.yes }
      , stage =
              M.lower stages.grain U.second "stage_time" "Stage" (stages.between e.submitted e.completed)
          //  { doc = "Time from the submission of a stage to its completion" }
      , job =
              M.lower jobs.grain U.second "job_time" "Job" (jobs.between e.jobStart e.jobEnd)
          //  { doc = "Time from the submission of a job to its end" }
      , read = ofTask U.mebibyte "read" "Task input" (G.valueOf field.read) // { doc = "Input bytes per task" }
      , shuffled =
              ofTask U.kibibyte "shuffled" "Task shuffle output" (G.valueOf field.shuffled)
          //  { doc = "Bytes that a task wrote for the next stage" }
      }

in  S.Package::{
    , system = "spark"
    , sources = [ log ]
    , events = [ e.task, e.submitted, e.completed, e.jobStart, e.jobEnd ]
    , relations = [ tasks.relation, stages.relation, jobs.relation ]
    , grains = [ tasks.grain, stages.grain, jobs.grain ]
    , metrics = S.metrics (toMap m)
    , reports =
      [     R.comparison
              [ R.section "Times" [ m.job, m.stage, m.task, m.run, m.gc ]
              , R.section "Sizes" [ m.read, m.shuffled ] // { doc = "Sizes of successful tasks" }
              ]
        //  R.versions version
        //  { title = "Spark {others} against {base}"
            , intro = "Jobs, stages and tasks of one application."
            , charts = [ R.cdf m.task, R.cdf m.gc ]
            }
      ]
    , examples =
      [ S.Example::{
        , name = "a job of one stage with two tasks, one of which failed"
        , files =
          [ Q.file
              "app-1"
              ''
              {"Event":"SparkListenerLogStart","Spark Version":"3.5.1"}
              {"Event":"SparkListenerJobStart","Job ID":0,"Submission Time":1772442000000}
              {"Event":"SparkListenerStageSubmitted","Stage Info":{"Stage ID":0,"Submission Time":1772442000050}}
              {"Event":"SparkListenerTaskEnd","Stage ID":0,"Task Info":{"Task ID":0,"Launch Time":1772442000100,"Finish Time":1772442000600,"Failed":false},"Task Metrics":{"Executor Run Time":480,"JVM GC Time":12,"Input Metrics":{"Bytes Read":1048576},"Shuffle Write Metrics":{"Shuffle Bytes Written":2048}}}
              {"Event":"SparkListenerTaskEnd","Stage ID":0,"Task Info":{"Task ID":1,"Launch Time":1772442000100,"Finish Time":1772442000700,"Failed":true}}
              {"Event":"SparkListenerStageCompleted","Stage Info":{"Stage ID":0,"Submission Time":1772442000050,"Completion Time":1772442000800}}
              {"Event":"SparkListenerJobEnd","Job ID":0,"Completion Time":1772442001000}
              ''
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
