-- The log of a Redis server (7.0 and later) with RDB snapshots and an append-only file.
let S = ../schema/package.dhall

let E = S.event

let G = S.grain

let M = S.metric

let Q = S.example

let R = S.report

let U = S.unit

let version =
      S.Constant::{ name = "version", files = [ "redis.log" ], line = "{}:C {} {} {} {} * Redis version={value}, {...}" }

-- `1:M 02 Mar 2026 09:00:00.000 * text`: the process and its role, a time of four words, the level, a text.
let log =
      S.Source::{
      , name = "log"
      , kind = "text-lines"
      , logs = [ "redis.log" ]
      , line = "{process}:{role} {day} {month} {year} {clock} {level} {message...}"
      , time = [ "day", "month", "year", "clock" ]
      , timeForm = "%d %b %Y %H:%M:%S.%g"
      , zone = "UTC"
      , body = [ "message" ]
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

let loads = G.records "loads" e.loaded "A start of the server"

let saves = G.records "saves" e.started "A snapshot"

-- The child writes with its own process id, which the server names at the start.
let saved =
      S.Instant::{
      , name = "saved"
      , grain = saves.grain.name
      , of = e.saved.name
      , on = [ G.same (G.columnOf field.child) field.process ]
      , doc = e.saved.doc
      }

let copied = saved // { name = "copied", of = e.copied.name, doc = e.copied.doc }

-- The end of a rewrite does not name the child: its start is the latest before it in the log.
let rewrites = G.records "rewrites" e.rewriteEnded "A rewrite of the append-only file"

let rewriteStarted = rewrites.before "started" e.rewriteStarted

let m =
      { save =
              M.lower saves.grain U.millisecond "save_time" "Snapshot" (S.elapsed { from = [ saves.at ], to = saved })
          //  { doc = "Time from the start of the child to the snapshot on disk" }
      , copied =
              M.lower saves.grain U.mebibyte "copied_memory" "Copied memory" (G.taken copied field.copied)
          //  { doc = "Peak of the memory copied because the server wrote to it during the snapshot" }
      , rewrite =
              M.lower
                rewrites.grain
                U.millisecond
                "rewrite_time"
                "AOF rewrite"
                (S.elapsed { from = [ rewriteStarted ], to = rewrites.at })
          //  { doc = "Time from the start of the child to the new append-only file" }
      , loading =
              M.lower loads.grain U.millisecond "loading_time" "Loading" (G.valueOf field.loading)
          //  { doc = "Time to load the data at startup" }
      }

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
    , reports =
      [     R.comparison
              [ R.section "Persistence" [ m.save, m.rewrite, m.loading, m.copied ] // { columns = [ "median", "max" ] } ]
        //  R.versions version
        //  { title = "Redis {others} against {base}"
            , intro = "Persistence in the log of the server."
            , charts = [ R.cdf m.save ]
            }
      ]
    , examples =
      [ S.Example::{
        , name = "a start, a snapshot and a rewrite"
        , files =
          [ Q.file
              "redis.log"
              ''
              1:C 02 Mar 2026 09:00:00.000 * Redis version=7.2.4, bits=64, commit=00000000, modified=0, pid=1, just started
              1:M 02 Mar 2026 09:00:00.125 * DB loaded from disk: 0.125 seconds
              1:M 02 Mar 2026 09:00:05.000 * Background saving started by pid 44
              44:C 02 Mar 2026 09:00:05.600 * DB saved on disk
              44:C 02 Mar 2026 09:00:05.600 * Fork CoW for RDB: current 1 MB, peak 6 MB, average 3 MB
              1:M 02 Mar 2026 09:00:05.650 * Background saving terminated with success
              1:M 02 Mar 2026 09:00:08.000 * Background append only file rewriting started by pid 45
              45:C 02 Mar 2026 09:00:09.200 * Fork CoW for AOF rewrite: current 2 MB, peak 9 MB, average 4 MB
              1:M 02 Mar 2026 09:00:09.250 * Background AOF rewrite terminated with success
              ''
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
