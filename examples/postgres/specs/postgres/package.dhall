-- The log of PostgreSQL, with the settings
--   log_line_prefix = '%m [%p] '   log_timezone = 'UTC'   log_min_duration_statement = 0   log_checkpoints = on   log_temp_files = 0
let S = ../schema/package.dhall

let E = S.event

let G = S.grain

let R = S.report

let U = S.unit

let X = S.x

let version =
      S.Constant::{
      , name = "version"
      , files = [ "postgresql*.log" ]
      , line = "{} {} UTC [{}] LOG: starting PostgreSQL {value} {...}"
      , type = "text"
      , doc = "Version of the server"
      }

-- Further lines of a statement begin with a tab. They do not match `line`, so they are text.
let log =
      S.Source::{
      , name = "log"
      , kind = "text-lines"
      , hosts = ""
      , logs = [ "postgresql*.log" ]
      , line = "{date} {clock} UTC [{pid}] {level}: {message...}"
      , time = [ "date", "clock" ]
      , zone = "UTC"
      , body = [ "message" ]
      , lookups = [] : List S.source.Lookup
      , constants = [ version ]
      , ignored =
        [ "starting PostgreSQL*"
        , "listening on *"
        , "database system is ready *"
        , "checkpoint starting: *"
        , "duplicate key value *"
        , "Key *"
        , "SELECT *"
        , "INSERT *"
        ]
      , doc = "Log of the server"
      }

let field =
      { pid = E.integer "pid"
      , duration = E.inUnit U.millisecond (E.real "duration")
      , command = E.text "command"
      , buffers = E.inUnit U.count (E.integer "buffers")
      , write = E.inUnit U.second (E.real "write")
      , sync = E.inUnit U.second (E.real "sync")
      , total = E.inUnit U.second (E.real "total")
      , size = E.inUnit U.byte (E.integer "size")
      }

let statementFields = [ field.pid, field.duration, field.command ]

let checkpointFields = [ field.buffers, field.write, field.sync, field.total ]

let event =
      { statement =
          E.event
            { name = "statement"
            , source = log.name
            , names = [ "duration: {duration} ms statement: {command} {...}" ]
            , fields = statementFields
            , doc = "A statement ended"
            }
      , checkpoint =
          E.event
            { name = "checkpoint"
            , source = log.name
            , names =
              [ "checkpoint complete: wrote {buffers} buffers ({}%); {...}; write={write} s, sync={sync} s, total={total} s; {...}" ]
            , fields = checkpointFields
            , doc = "A checkpoint ended"
            }
      , temporary =
          E.event
            { name = "temporary"
            , source = log.name
            , names = [ "temporary file: path \"{...}\", size {size}" ]
            , fields = [ field.size ]
            , doc = "A temporary file was removed"
            }
      }

let statements =
      G.eachRecord { name = "statements", event = event.statement, fields = statementFields, doc = "A statement" }

let checkpoints =
      G.eachRecord { name = "checkpoints", event = event.checkpoint, fields = checkpointFields, doc = "A checkpoint" }

let temporaries =
      G.eachRecord { name = "temporaries", event = event.temporary, fields = [ field.size ], doc = "A temporary file" }

let column = \(f : S.Field) -> X.column (G.columnOf f)

let statementTime =
      \(m : { id : Text, name : Text, doc : Text }) ->
        S.Metric::(     m
                    /\  { grain = statements.grain.name
                        , measure = column field.duration
                        , unit = U.millisecond
                        , better = "lower"
                        }
                  )

let ofCommand =
      \(command : Text) ->
            statementTime { id = "time_${command}", name = command, doc = "Duration of ${command} statements" }
        //  { where = X.equals (column field.command) (X.text command) }

let checkpointMetric =
      \(m : { id : Text, name : Text, field : S.Field, doc : Text }) ->
        S.Metric::(     m.{ id, name, doc }
                    /\  { grain = checkpoints.grain.name, measure = column m.field, unit = m.field.unit, better = "lower" }
                  )

let m =
      { statement = statementTime { id = "statement_time", name = "All statements", doc = "Duration of a statement in the server" }
      , select = ofCommand "SELECT"
      , insert = ofCommand "INSERT"
      , update = ofCommand "UPDATE"
      , checkpoint =
          checkpointMetric
            { id = "checkpoint_time", name = "Checkpoint", field = field.total, doc = "Duration of a checkpoint" }
      , buffers =
          checkpointMetric
            { id = "checkpoint_buffers", name = "Checkpoint buffers", field = field.buffers, doc = "Buffers written by a checkpoint" }
      , temporary =
          S.Metric::{
          , id = "temporary_size"
          , name = "Temporary file"
          , grain = temporaries.grain.name
          , measure = column field.size
          , unit = U.mebibyte
          , better = "lower"
          , doc = "Size of a temporary file of a sort or hash that did not fit into `work_mem`"
          }
      }

let times = [ m.statement, m.select, m.insert, m.update ]

let storage = [ m.checkpoint, m.buffers, m.temporary ]

let Q = S.example

let start = "2026-03-02 09:00:00.000 UTC [1] LOG:  starting PostgreSQL 16.2 on x86_64-pc-linux-gnu"

in  S.Package::{
    , system = "postgres"
    , sources = [ log ]
    , events = [ event.statement, event.checkpoint, event.temporary ]
    , relations = [ statements.relation, checkpoints.relation, temporaries.relation ]
    , grains = [ statements.grain, checkpoints.grain, temporaries.grain ]
    , metrics = S.metrics (toMap m)
    , summaries = [ S.Summary::{ name = "all", doc = "All samples count alike" } ]
    , reports =
      [ S.Report::{
        , name = "comparison"
        , title = "PostgreSQL {others} against {base}"
        , intro = "Statements, checkpoints and temporary files in the logs of the servers."
        , manifest = [ R.fact "Version" version (R.text 0) ]
        , sections =
          [ R.section "Statements" times // { columns = [ "median", "p95", "max" ] }
          , R.section "Storage" storage
          ]
        , charts = [ R.cdf m.select, R.cdf m.insert ]
        , dictionary = [ R.group "Statements" times, R.group "Storage" storage ]
        , style = "prefixed"
        , summary = "all"
        , label = version.name
        }
      ]
    , examples =
      [ S.Example::{
        , name = "a statement of two lines, a checkpoint and a temporary file"
        , files =
          [ Q.file
              "postgresql.log"
              ( Q.lines
                  [ start
                  , "2026-03-02 09:00:01.250 UTC [71] LOG:  duration: 12.500 ms  statement: SELECT id FROM orders"
                  , "\t  WHERE total > 10"
                  , "2026-03-02 09:00:02.000 UTC [72] LOG:  duration: 1.500 ms  statement: INSERT INTO orders (id) VALUES (1)"
                  , "2026-03-02 09:00:02.500 UTC [72] LOG:  duration: 3.000 ms  statement: UPDATE orders SET id = 2"
                  , "2026-03-02 09:00:03.000 UTC [28] LOG:  checkpoint complete: wrote 42 buffers (0.3%); 0 WAL file(s) added, 0 removed, 1 recycled; write=1.250 s, sync=0.010 s, total=1.300 s; sync files=3, longest=0.004 s, average=0.002 s; distance=16384 kB, estimate=16384 kB"
                  , "2026-03-02 09:00:04.000 UTC [71] LOG:  temporary file: path \"base/pgsql_tmp/pgsql_tmp71.0\", size 2097152"
                  ]
              )
          ]
        , expect =
          [ Q.samples m.statement [ "1.5", "3", "12.5" ]
          , Q.samples m.select [ "12.5" ]
          , Q.samples m.insert [ "1.5" ]
          , Q.samples m.update [ "3" ]
          , Q.samples m.checkpoint [ "1.3" ]
          , Q.samples m.buffers [ "42" ]
          , Q.samples m.temporary [ "2" ]
          ]
        }
      ]
    }
