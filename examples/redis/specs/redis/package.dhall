-- The log of a Redis server (7.0 and later) with RDB snapshots and an append-only file.
let S = ../schema/package.dhall

let E = S.event

let G = S.grain

let R = S.report

let U = S.unit

let X = S.x

let version =
      S.Constant::{
      , name = "version"
      , files = [ "redis.log" ]
      , line = "{}:C {} {} {} {} * Redis version={value}, {...}"
      , type = "text"
      , doc = "Version of the server"
      }

-- `1:M 02 Mar 2026 09:00:00.000 * text`: the process and its role, a time of four words, the level, a text.
let log =
      S.Source::{
      , name = "log"
      , kind = "text-lines"
      , hosts = ""
      , logs = [ "redis.log" ]
      , line = "{process}:{role} {day} {month} {year} {clock} {level} {message...}"
      , time = [ "day", "month", "year", "clock" ]
      , timeForm = "%d %b %Y %H:%M:%S.%g"
      , zone = "UTC"
      , body = [ "message" ]
      , lookups = [] : List S.source.Lookup
      , constants = [ version ]
      , ignored =
        [ "oO#OoO*"
        , "Redis version=*"
        , "monotonic clock*"
        , "Server initialized"
        , "Ready to accept *"
        , "# changes in *"
        , "Starting automatic *"
        , "Successfully created *"
        ]
      , doc = "Log of the server and its children"
      }

let field =
      { process = E.integer "process"
      , child = E.integer "child"
      , loading = E.inUnit U.second (E.real "loading")
      , copied = E.inUnit U.byte (E.changed [ E.binarySize ] (E.integer "copied"))
      }

let event = E.eventOf log

-- `{copied...}` takes the number and its unit: `6 MB`.
let e =
      { loaded = event "loaded" "DB loaded from disk: {loading} seconds" [ field.loading ] "The data was loaded"
      , started = event "save_started" "Background saving started by pid {child}" [ field.child ] "A child started a snapshot"
      , saved = event "saved" "DB saved on disk" [ field.process ] "The child wrote the snapshot"
      , copied =
          event
            "copied"
            "Fork CoW for {...}: current {...}, peak {copied...}, average {...}"
            [ field.process, field.copied ]
            "Memory copied while a child wrote"
      , ended = event "save_ended" "Background saving terminated with success" ([] : List S.Field) "The server noticed the end"
      , rewriteStarted =
          event
            "rewrite_started"
            "Background append only file rewriting started by pid {child}"
            [ field.child ]
            "A child started to rewrite the append-only file"
      , rewriteEnded =
          event "rewrite_ended" "Background AOF rewrite terminated with success" ([] : List S.Field) "The file was rewritten"
      }

let loads = G.eachRecord { name = "loads", event = e.loaded, fields = [ field.loading ], doc = "A start of the server" }

let saves = G.eachRecord { name = "saves", event = e.started, fields = [ field.child ], doc = "A snapshot" }

-- The child writes with its own process id, which the server names at the start.
let saved =
      S.Instant::{
      , name = "saved"
      , grain = saves.grain.name
      , pick = "first"
      , of = e.saved.name
      , on = [ G.same (G.columnOf field.child) field.process ]
      , doc = e.saved.doc
      }

let copied = saved // { name = "copied", of = e.copied.name, doc = e.copied.doc }

-- The end of a rewrite does not name the child: its start is the latest before it in the log.
let rewrites =
      G.eachRecord { name = "rewrites", event = e.rewriteEnded, fields = [] : List S.Field, doc = "A rewrite of the append-only file" }

let rewriteStarted =
      S.Instant::{
      , name = "started"
      , grain = rewrites.grain.name
      , pick = "latest before"
      , before = rewrites.at.name
      , of = e.rewriteStarted.name
      , on = [ G.sameColumn rewrites.host rewrites.host ]
      , doc = e.rewriteStarted.doc
      }

let ofSave = (S.metricOf saves.grain) with default.better = "lower"

let m =
      { save =
          ofSave::{
          , id = "save_time"
          , name = "Snapshot"
          , measure = S.elapsed { from = [ saves.at ], to = saved }
          , unit = U.millisecond
          , doc = "Time from the start of the child to the snapshot on disk"
          }
      , copied =
          ofSave::{
          , id = "copied_memory"
          , name = "Copied memory"
          , measure = G.taken copied field.copied
          , unit = U.mebibyte
          , doc = "Peak of the memory copied because the server wrote to it during the snapshot"
          }
      , rewrite =
          S.Metric::{
          , id = "rewrite_time"
          , name = "AOF rewrite"
          , grain = rewrites.grain.name
          , measure = S.elapsed { from = [ rewriteStarted ], to = rewrites.at }
          , unit = U.millisecond
          , better = "lower"
          , doc = "Time from the start of the child to the new append-only file"
          }
      , loading =
          S.Metric::{
          , id = "loading_time"
          , name = "Loading"
          , grain = loads.grain.name
          , measure = X.column (G.columnOf field.loading)
          , unit = U.millisecond
          , better = "lower"
          , doc = "Time to load the data at startup"
          }
      }

let all = [ m.save, m.rewrite, m.loading, m.copied ]

let Q = S.example

let line = \(process : Text) -> \(time : Text) -> \(text : Text) -> "${process} 02 Mar 2026 09:00:${time} * ${text}"

in  S.Package::{
    , system = "redis"
    , sources = [ log ]
    , events = [ e.loaded, e.started, e.saved, e.copied, e.ended, e.rewriteStarted, e.rewriteEnded ]
    , relations = [ loads.relation, saves.relation, rewrites.relation ]
    , grains =
      [ loads.grain
      , saves.grain // { instants = [ saves.at, saved, copied ] }
      , rewrites.grain // { instants = [ rewrites.at, rewriteStarted ] }
      ]
    , metrics = S.metrics (toMap m)
    , summaries = [ S.Summary::{ name = "all", doc = "All samples count alike" } ]
    , reports =
      [ S.Report::{
        , name = "comparison"
        , title = "Redis {others} against {base}"
        , intro = "Persistence in the log of the server."
        , manifest = [ R.fact "Version" version (R.text 0) ]
        , sections = [ R.section "Persistence" all // { columns = [ "median", "max" ] } ]
        , charts = [ R.cdf m.save ]
        , dictionary = [ R.group "Persistence" all ]
        , style = "prefixed"
        , summary = "all"
        , label = version.name
        }
      ]
    , examples =
      [ S.Example::{
        , name = "a start, a snapshot and a rewrite"
        , files =
          [ Q.file
              "redis.log"
              ( Q.lines
                  [ line "1:C" "00.000" "Redis version=7.2.4, bits=64, commit=00000000, modified=0, pid=1, just started"
                  , line "1:M" "00.125" "DB loaded from disk: 0.125 seconds"
                  , line "1:M" "05.000" "Background saving started by pid 44"
                  , line "44:C" "05.600" "DB saved on disk"
                  , line "44:C" "05.600" "Fork CoW for RDB: current 1 MB, peak 6 MB, average 3 MB"
                  , line "1:M" "05.650" "Background saving terminated with success"
                  , line "1:M" "08.000" "Background append only file rewriting started by pid 45"
                  , line "45:C" "09.200" "Fork CoW for AOF rewrite: current 2 MB, peak 9 MB, average 4 MB"
                  , line "1:M" "09.250" "Background AOF rewrite terminated with success"
                  ]
              )
          ]
        , expect =
          [ Q.samples m.loading [ "125" ]
          , Q.samples m.save [ "600" ]
          , Q.samples m.copied [ "6" ]
          , Q.samples m.rewrite [ "1250" ]
          ]
        }
      ]
    }
