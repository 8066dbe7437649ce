-- The log of PostgreSQL, with the settings
--   log_line_prefix = '%m [%p] '   log_timezone = 'UTC'   log_min_duration_statement = 0   log_checkpoints = on   log_temp_files = 0
let S = ../schema/package.dhall

let E = S.event

let G = S.grain

let M = S.metric

let Q = S.example

let R = S.report

let U = S.unit

let version =
      S.Constant::{
      , name = "version"
      , files = [ "postgresql*.log" ]
      , line = "{} {} UTC [{}] LOG: starting PostgreSQL {value} {...}"
      }

-- Further lines of a statement begin with a tab. They do not match `line`, so they are text.
let log =
      S.Source::{
      , name = "log"
      , kind = "text-lines"
      , logs = [ "postgresql*.log" ]
      , line = "{date} {clock} UTC [{pid}] {level}: {message...}"
      , time = [ "date", "clock" ]
      , zone = "UTC"
      , body = [ "message" ]
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

let event = E.eventOf log

let e =
      { statement =
          event
            "statement"
            "duration: {duration} ms statement: {command} {...}"
            [ field.pid, field.duration, field.command ]
            "A statement ended"
      , checkpoint =
          event
            "checkpoint"
            "checkpoint complete: wrote {buffers} buffers ({}%); {...}; write={write} s, sync={sync} s, total={total} s; {...}"
            [ field.buffers, field.write, field.sync, field.total ]
            "A checkpoint ended"
      , temporary =
          event "temporary" "temporary file: path \"{...}\", size {size}" [ field.size ] "A temporary file was removed"
      }

let statements = G.records "statements" e.statement "A statement"

let checkpoints = G.records "checkpoints" e.checkpoint "A checkpoint"

let temporaries = G.records "temporaries" e.temporary "A temporary file"

let time = \(id : Text) -> \(name : Text) -> M.lower statements.grain U.millisecond id name (G.valueOf field.duration)

let ofCommand =
      \(command : Text) ->
            time "time_${command}" command
        //  { where = S.x.equals (G.valueOf field.command) (S.x.text command), doc = "Duration of ${command} statements" }

let m =
      { statement = time "statement_time" "All statements" // { doc = "Duration of a statement in the server" }
      , select = ofCommand "SELECT"
      , insert = ofCommand "INSERT"
      , update = ofCommand "UPDATE"
      , checkpoint =
              M.lower checkpoints.grain U.second "checkpoint_time" "Checkpoint" (G.valueOf field.total)
          //  { doc = "Duration of a checkpoint" }
      , buffers =
              M.lower checkpoints.grain U.count "checkpoint_buffers" "Checkpoint buffers" (G.valueOf field.buffers)
          //  { doc = "Buffers written by a checkpoint" }
      , temporary =
              M.lower temporaries.grain U.mebibyte "temporary_size" "Temporary file" (G.valueOf field.size)
          //  { doc = "Size of a temporary file of a sort or hash that did not fit into `work_mem`" }
      }

in  S.Package::{
    , system = "postgres"
    , sources = [ log ]
    , events = [ e.statement, e.checkpoint, e.temporary ]
    , relations = [ statements.relation, checkpoints.relation, temporaries.relation ]
    , grains = [ statements.grain, checkpoints.grain, temporaries.grain ]
    , metrics = S.metrics (toMap m)
    , reports =
      [     R.comparison
              [     R.section "Statements" [ m.statement, m.select, m.insert, m.update ]
                //  { columns = [ "median", "p95", "max" ] }
              , R.section "Storage" [ m.checkpoint, m.buffers, m.temporary ]
              ]
        //  R.versions version
        //  { title = "PostgreSQL {others} against {base}"
            , intro = "Statements, checkpoints and temporary files in the logs of the servers."
            , charts = [ R.cdf m.select, R.cdf m.insert ]
            }
      ]
    , examples =
      [ S.Example::{
        , name = "a statement of two lines, a checkpoint and a temporary file"
        , files =
          [ Q.file
              "postgresql.log"
              ''
              2026-03-02 09:00:00.000 UTC [1] LOG:  starting PostgreSQL 16.2 on x86_64-pc-linux-gnu
              2026-03-02 09:00:01.250 UTC [71] LOG:  duration: 12.500 ms  statement: SELECT id FROM orders
              	  WHERE total > 10
              2026-03-02 09:00:02.000 UTC [72] LOG:  duration: 1.500 ms  statement: INSERT INTO orders (id) VALUES (1)
              2026-03-02 09:00:02.500 UTC [72] LOG:  duration: 3.000 ms  statement: UPDATE orders SET id = 2
              2026-03-02 09:00:03.000 UTC [28] LOG:  checkpoint complete: wrote 42 buffers (0.3%); 0 WAL file(s) added, 0 removed, 1 recycled; write=1.250 s, sync=0.010 s, total=1.300 s; sync files=3, longest=0.004 s, average=0.002 s; distance=16384 kB, estimate=16384 kB
              2026-03-02 09:00:04.000 UTC [71] LOG:  temporary file: path "base/pgsql_tmp/pgsql_tmp71.0", size 2097152
              ''
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
