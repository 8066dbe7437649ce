-- Unified logging of the garbage collector (JDK 9 and later): -Xlog:gc*:file=gc.log:time,uptime,level,tags
let S = ../schema/package.dhall

let E = S.event

let G = S.grain

let M = S.metric

let Q = S.example

let R = S.report

let U = S.unit

let X = S.x

let constantOf = \(name : Text) -> \(text : Text) -> S.Constant::{ name, files = [ "gc.log" ], line = "[{}][{}][{}][{...}] ${text}" }

let constant =
      { version = constantOf "version" "Version: {value} (release)", collector = constantOf "collector" "Using {value}" }

let log =
      S.Source::{
      , name = "log"
      , kind = "text-lines"
      , logs = [ "gc.log" ]
      , line = "[{at}][{uptime}s][{level}][{tags...}] {message...}"
      , time = [ "at" ]
      , body = [ "message" ]
      , constants = [ constant.version, constant.collector ]
      , ignored = [ "Version: *", "Using *", "CPUs: *", "Heap *" ]
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

let event = E.eventOf log

let e =
      { paused =
          event "paused" "GC({gc}) Pause {pause...} {before}->{after}({heap}) {duration}ms" pauseFields "A pause ended"
        -- Lines that begin like a pause must match a pattern, or they are malformed; this one takes all others.
      , other = event "other" "GC({gc}) {...}" [ field.gc ] "Another line about a collection"
      }

let pauses = G.records "pauses" e.paused "A pause of the application"

-- The end of the previous pause: the latest record before it in the log, without a common key.
let previous = pauses.before "previous" e.paused

let pauseOf =
      \(kinds : Text) ->
      \(id : Text) ->
      \(name : Text) ->
            M.lower pauses.grain U.millisecond id name (G.valueOf field.duration)
        //  { where = X.matches (G.valueOf field.pause) kinds }

let m =
      { pause = pauseOf ".*" "pause" "All pauses" // { doc = "Time that the application was paused" }
      , young = pauseOf "Young.*" "pause_young" "Young" // { doc = "Pauses that collect the young generation" }
      , full = pauseOf "Full.*" "pause_full" "Full" // { doc = "Pauses that collect the whole heap" }
      , freed =
          (S.metricOf pauses.grain)::{
          , id = "freed"
          , name = "Freed"
          , measure = X.minus (G.valueOf field.before) (G.valueOf field.after)
          , where = X.matches (G.valueOf field.pause) "(Young|Full).*"
          , unit = U.mebibyte
          , doc = "Memory freed by a collection"
          }
      , after =
              M.lower pauses.grain U.mebibyte "heap_after" "Live after collection" (G.valueOf field.after)
          //  { doc = "Memory used after the pause" }
      , interval =
              M.higher pauses.grain U.second "interval" "Between pauses" (S.elapsed { from = [ previous ], to = pauses.at })
          //  { doc = "Time from the end of a pause to the end of the next pause" }
      }

in  S.Package::{
    , system = "jvm"
    , sources = [ log ]
    , events = [ e.paused, e.other ]
    , relations = [ pauses.relation ]
    , grains = [ pauses.grain // { instants = [ pauses.at, previous ] } ]
    , metrics = S.metrics (toMap m)
    , reports =
      [     R.comparison
              [ R.section "Pauses" [ m.pause, m.young, m.full, m.interval ] // { columns = [ "median", "p95", "max" ] }
              , R.section "Memory" [ m.freed, m.after ]
              ]
        //  { title = "JVM {others} against {base}"
            , intro = "Pauses of the garbage collector."
            , label = constant.version.name
            , manifest = [ R.fact "Version" constant.version (R.text 0), R.fact "Collector" constant.collector (R.text 0) ]
            , charts = [ R.cdf m.young, R.cdf m.after ]
            }
      ]
    , examples =
      [ S.Example::{
        , name = "two pauses"
        , files =
          [ Q.file
              "gc.log"
              ''
              [2026-03-02T09:00:00.005+0000][0.005s][info][gc] Using G1
              [2026-03-02T09:00:00.006+0000][0.006s][info][gc] Version: 21.0.2+13 (release)
              [2026-03-02T09:00:01.000+0000][1.000s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause)
              [2026-03-02T09:00:01.004+0000][1.004s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 25M->5M(256M) 3.456ms
              [2026-03-02T09:00:01.004+0000][1.004s][info][gc] GC(0) User=0.01s Sys=0.00s Real=0.00s
              [2026-03-02T09:00:03.504+0000][3.504s][info][gc] GC(1) Pause Full (System.gc()) 90112K->4096K(256M) 40.250ms
              ''
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
