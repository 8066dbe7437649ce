-- Unified logging of the garbage collector (JDK 9 and later): -Xlog:gc*:file=gc.log:time,uptime,level,tags
let S = ../schema/package.dhall

let E = S.event

let G = S.grain

let R = S.report

let U = S.unit

let X = S.x

let constantOf =
      \(name : Text) ->
      \(line : Text) ->
      \(doc : Text) ->
        S.Constant::{ name, files = [ "gc.log" ], line = "[{}][{}][{}][{...}] ${line}", type = "text", doc }

let constant =
      { version = constantOf "version" "Version: {value} (release)" "Version of the JVM"
      , collector = constantOf "collector" "Using {value}" "The garbage collector"
      }

let log =
      S.Source::{
      , name = "log"
      , kind = "text-lines"
      , hosts = ""
      , logs = [ "gc.log" ]
      , line = "[{at}][{uptime}s][{level}][{tags...}] {message...}"
      , time = [ "at" ]
      , body = [ "message" ]
      , lookups = [] : List S.source.Lookup
      , constants = [ constant.version, constant.collector ]
      , ignored = [ "Version: *", "Using *", "CPUs: *", "Heap *" ]
      , doc = "Log of the garbage collector"
      }

-- The JVM writes sizes such as `155M`, in units of 1024.
let size = \(name : Text) -> E.inUnit U.byte (E.changed [ E.binarySize ] (E.integer name))

let field =
      { gc = E.integer "gc"
      , pause = E.text "pause"
      , before = size "before"
      , after = size "after"
      , heap = size "heap"
      , duration = E.inUnit U.millisecond (E.real "duration")
      }

let pauseFields = [ field.gc, field.pause, field.before, field.after, field.heap, field.duration ]

let event =
      { paused =
          E.event
            { name = "paused"
            , source = log.name
            , names = [ "GC({gc}) Pause {pause...} {before}->{after}({heap}) {duration}ms" ]
            , fields = pauseFields
            , doc = "A pause ended"
            }
      , other =
          -- Lines that begin like a pause must match a pattern, or they are malformed; this one takes all others.
          E.event
            { name = "other"
            , source = log.name
            , names = [ "GC({gc}) {...}" ]
            , fields = [ field.gc ]
            , doc = "Another line about a collection"
            }
      }

let pauses = G.eachRecord { name = "pauses", event = event.paused, fields = pauseFields, doc = "A pause of the application" }

-- The end of the previous pause: the latest record before it in the log, without a common key.
let previous =
      S.Instant::{
      , name = "previous"
      , grain = pauses.grain.name
      , pick = "latest before"
      , before = pauses.at.name
      , of = event.paused.name
      , on = [ G.sameColumn pauses.host pauses.host ]
      , doc = "The previous pause ended"
      }

let grain = pauses.grain // { instants = [ pauses.at, previous ] }

let column = \(f : S.Field) -> X.column (G.columnOf f)

let pauseOf =
      \(m : { id : Text, name : Text, kinds : Text, doc : Text }) ->
        S.Metric::(     m.{ id, name, doc }
                    /\  { grain = grain.name
                        , measure = column field.duration
                        , where = X.matches (column field.pause) m.kinds
                        , unit = U.millisecond
                        , better = "lower"
                        }
                  )

let m =
      { pause = pauseOf { id = "pause", name = "All pauses", kinds = ".*", doc = "Time that the application was paused" }
      , young = pauseOf { id = "pause_young", name = "Young", kinds = "Young.*", doc = "Pauses that collect the young generation" }
      , full = pauseOf { id = "pause_full", name = "Full", kinds = "Full.*", doc = "Pauses that collect the whole heap" }
      , freed =
          S.Metric::{
          , id = "freed"
          , name = "Freed"
          , grain = grain.name
          , measure = X.minus (column field.before) (column field.after)
          , where = X.matches (column field.pause) "(Young|Full).*"
          , unit = U.mebibyte
          , doc = "Memory freed by a collection"
          }
      , after =
          S.Metric::{
          , id = "heap_after"
          , name = "Live after collection"
          , grain = grain.name
          , measure = column field.after
          , unit = U.mebibyte
          , better = "lower"
          , doc = "Memory used after the pause"
          }
      , interval =
          S.Metric::{
          , id = "interval"
          , name = "Between pauses"
          , grain = grain.name
          , measure = S.elapsed { from = [ previous ], to = pauses.at }
          , unit = U.second
          , better = "higher"
          , doc = "Time from the end of a pause to the end of the next pause"
          }
      }

let pausesOf = [ m.pause, m.young, m.full, m.interval ]

let memory = [ m.freed, m.after ]

let Q = S.example

let line = \(second : Text) -> \(text : Text) -> "[2026-03-02T09:00:0${second}+0000][${second}s][info][gc] ${text}"

in  S.Package::{
    , system = "jvm"
    , sources = [ log ]
    , events = [ event.paused, event.other ]
    , relations = [ pauses.relation ]
    , grains = [ grain ]
    , metrics = S.metrics (toMap m)
    , summaries = [ S.Summary::{ name = "all", doc = "All samples count alike" } ]
    , reports =
      [ S.Report::{
        , name = "comparison"
        , title = "JVM {others} against {base}"
        , intro = "Pauses of the garbage collector."
        , manifest = [ R.fact "Version" constant.version (R.text 0), R.fact "Collector" constant.collector (R.text 0) ]
        , sections =
          [ R.section "Pauses" pausesOf // { columns = [ "median", "p95", "max" ] }, R.section "Memory" memory ]
        , charts = [ R.cdf m.young, R.cdf m.after ]
        , dictionary = [ R.group "Pauses" pausesOf, R.group "Memory" memory ]
        , style = "prefixed"
        , summary = "all"
        , label = constant.version.name
        }
      ]
    , examples =
      [ S.Example::{
        , name = "two pauses"
        , files =
          [ Q.file
              "gc.log"
              ( Q.lines
                  [ line "0.005" "Using G1"
                  , line "0.006" "Version: 21.0.2+13 (release)"
                  , line "1.000" "GC(0) Pause Young (Normal) (G1 Evacuation Pause)"
                  , line "1.004" "GC(0) Pause Young (Normal) (G1 Evacuation Pause) 25M->5M(256M) 3.456ms"
                  , line "1.004" "GC(0) User=0.01s Sys=0.00s Real=0.00s"
                  , line "3.504" "GC(1) Pause Full (System.gc()) 90112K->4096K(256M) 40.250ms"
                  ]
              )
          ]
        , expect =
          [ Q.samples m.pause [ "3.456", "40.25" ]
          , Q.samples m.young [ "3.456" ]
          , Q.samples m.full [ "40.25" ]
          , Q.samples m.freed [ "20", "84" ]
          , Q.samples m.after [ "4", "5" ]
          , Q.samples m.interval [ "2.5" ]
          ]
        }
      ]
    }
