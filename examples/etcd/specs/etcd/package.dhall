-- The logs of an etcd cluster (3.4 and later): lines of JSON, a folder for each member.
let S = ../schema/package.dhall

let E = S.event

let G = S.grain

let R = S.report

let U = S.unit

let X = S.x

let version =
      S.Constant::{
      , name = "version"
      , files = [ "etcd-*/etcd.log" ]
      , line = "{...}\"etcd-version\":\"{value}\"{...}"
      , type = "text"
      , doc = "Version of etcd"
      }

-- `msg` names the record. A trace has a random number in it, so traces are left out.
let log =
      S.Source::{
      , name = "log"
      , hosts = "etcd-*"
      , logs = [ "etcd.log" ]
      , time = [ "ts" ]
      , body = [] : List Text
      , lookups = [ S.source.nameAt [ "msg" ] ]
      , constants = [ version ]
      , ignored = [ "starting an etcd server", "compact tree index", "trace[*" ]
      , doc = "Log of a member"
      }

-- A duration as Go writes it, such as `1.460378765s`.
let took = \(name : Text) -> E.inUnit U.nanosecond (E.changed [ E.duration ] (E.integer name))

let field =
      { took = took "took"
      , limit = E.at [ "expected-duration" ] (took "expected")
      , prefix = E.text "prefix"
      , size = E.inUnit U.byte (E.at [ "current-db-size-bytes" ] (E.integer "size"))
      }

let applyFields = [ field.took, field.limit, field.prefix ]

let compactionFields = [ field.took, field.size ]

let event = E.eventOf log

let e =
      { applied = event "slow_apply" "apply request took too long" applyFields "A request took longer than 100 ms"
      , synced = event "slow_sync" "slow fdatasync" [ field.took ] "A write to disk took longer than 1 s"
      , compacted = event "compaction" "finished scheduled compaction" compactionFields "A compaction ended"
      }

let applies = G.eachRecord { name = "applies", event = e.applied, fields = applyFields, doc = "A slow request" }

let syncs = G.eachRecord { name = "syncs", event = e.synced, fields = [ field.took ], doc = "A slow write to disk" }

let compactions = G.eachRecord { name = "compactions", event = e.compacted, fields = compactionFields, doc = "A compaction" }

-- Rows are grouped by member, so differences between members widen the intervals of judgements.
let byMember = { cluster = "host" }

let column = \(f : S.Field) -> X.column (G.columnOf f)

let ofCompaction = (S.metricOf compactions.grain) with default.better = "lower"

let ofRequest = (S.metricOf applies.grain) with default.unit = U.millisecond with default.better = "lower"

let slow = ofRequest with default.measure = column field.took

let m =
      { write =
          slow::{
          , id = "slow_write"
          , name = "Slow write"
          , where = X.equals (column field.prefix) (X.text "")
          , doc = "Duration of a write that took longer than 100 ms"
          }
      , read =
          slow::{
          , id = "slow_read"
          , name = "Slow read"
          , where = X.matches (column field.prefix) "read-only .*"
          , doc = "Duration of a read that took longer than 100 ms"
          }
      , excess =
          ofRequest::{
          , id = "excess"
          , name = "Beyond the limit"
          , measure = X.minus (column field.took) (column field.limit)
          , doc = "Time by which a request exceeded the expected duration of etcd"
          }
      , sync =
          S.Metric::{
          , id = "slow_sync_time"
          , name = "Slow fdatasync"
          , grain = syncs.grain.name
          , measure = column field.took
          , unit = U.second
          , better = "lower"
          , doc = "Duration of a write to disk that took longer than 1 s"
          }
      , compaction =
          ofCompaction::{
          , id = "compaction_time"
          , name = "Compaction"
          , measure = column field.took
          , unit = U.millisecond
          , doc = "Duration of a compaction"
          }
      , size =
          ofCompaction::{
          , id = "database_size"
          , name = "Database"
          , measure = column field.size
          , unit = U.mebibyte
          , doc = "Size of the database after a compaction"
          }
      }

let requests = [ m.write, m.read, m.excess ]

let storage = [ m.sync, m.compaction, m.size ]

let Q = S.example

let line =
      \(second : Text) ->
      \(rest : Text) ->
        "{\"level\":\"warn\",\"ts\":\"2026-03-02T09:00:${second}.000001Z\",\"caller\":\"x.go:1\",${rest}}"

in  S.Package::{
    , system = "etcd"
    , sources = [ log ]
    , events = [ e.applied, e.synced, e.compacted ]
    , relations = [ applies.relation, syncs.relation, compactions.relation ]
    , grains = [ applies.grain // byMember, syncs.grain // byMember, compactions.grain // byMember ]
    , metrics = S.metrics (toMap m)
    , summaries = [ S.Summary::{ name = "all", doc = "All samples count alike" } ]
    , reports =
      [ S.Report::{
        , name = "comparison"
        , title = "etcd {others} against {base}"
        , intro = "Slow requests and storage operations in the logs of the members."
        , manifest = [ R.fact "Version" version (R.text 0) ]
        , sections = [ R.section "Slow requests" requests, R.section "Storage" storage ]
        , charts = [ R.cdf m.read, R.cdf m.write ]
        , dictionary = [ R.group "Slow requests" requests, R.group "Storage" storage ]
        , style = "prefixed"
        , summary = "all"
        , label = version.name
        }
      ]
    , coverage = [ S.onSomeHosts e.synced ]
    , examples =
      [ S.Example::{
        , name = "a slow write, a slow read, a slow disk and a compaction"
        , files =
          [ Q.file
              "etcd-1/etcd.log"
              ( Q.lines
                  [ line "00" "\"msg\":\"starting an etcd server\",\"etcd-version\":\"3.5.9\",\"name\":\"etcd-1\""
                  , line "01" "\"msg\":\"apply request took too long\",\"took\":\"150.5ms\",\"expected-duration\":\"100ms\",\"prefix\":\"\""
                  , line "02" "\"msg\":\"apply request took too long\",\"took\":\"1.25s\",\"expected-duration\":\"100ms\",\"prefix\":\"read-only range \""
                  , line "03" "\"msg\":\"slow fdatasync\",\"took\":\"1.5s\",\"expected-duration\":\"1s\""
                  , line "04" "\"msg\":\"finished scheduled compaction\",\"took\":\"707.5µs\",\"current-db-size-bytes\":2097152"
                  ]
              )
          ]
        , expect =
          [ Q.samples m.write [ "150.5" ]
          , Q.samples m.read [ "1250" ]
          , Q.samples m.excess [ "50.5", "1150" ]
          , Q.samples m.sync [ "1.5" ]
          , Q.samples m.compaction [ "0.7075" ]
          , Q.samples m.size [ "2" ]
          ]
        }
      ]
    }
