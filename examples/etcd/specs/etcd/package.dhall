-- The logs of an etcd cluster (3.4 and later): lines of JSON, a folder for each member.
let S = ../schema/package.dhall

let E = S.event

let G = S.grain

let M = S.metric

let Q = S.example

let R = S.report

let U = S.unit

let X = S.x

let version =
      S.Constant::{ name = "version", files = [ "etcd-*/etcd.log" ], line = "{...}\"etcd-version\":\"{value}\"{...}" }

-- `msg` names the record. A trace has a random number in it, so traces are left out.
let log =
      S.Source::{
      , name = "log"
      , hosts = "etcd-*"
      , logs = [ "etcd.log" ]
      , time = [ "ts" ]
      , lookups = [ S.source.nameAt [ "msg" ] ]
      , constants = [ version ]
      , ignored = [ "starting an etcd server", "compact tree index", "trace[*" ]
      }

-- A duration as Go writes it, such as `1.460378765s`.
let duration = \(name : Text) -> E.inUnit U.nanosecond (E.changed [ E.duration ] (E.integer name))

let field =
      { took = duration "took"
      , limit = E.at [ "expected-duration" ] (duration "expected")
      , prefix = E.text "prefix"
      , size = E.inUnit U.byte (E.at [ "current-db-size-bytes" ] (E.integer "size"))
      }

let event = E.eventOf log

let applyFields = [ field.took, field.limit, field.prefix ]

let e =
      { applied = event "slow_apply" "apply request took too long" applyFields "A request took longer than 100 ms"
      , synced = event "slow_sync" "slow fdatasync" [ field.took ] "A write to disk took longer than 1 s"
      , compacted = event "compaction" "finished scheduled compaction" [ field.took, field.size ] "A compaction ended"
      }

let applies = G.records "applies" e.applied "A slow request"

let syncs = G.records "syncs" e.synced "A slow write to disk"

let compactions = G.records "compactions" e.compacted "A compaction"

-- Rows are grouped by member, so differences between members widen the intervals of judgements.
let byMember = { cluster = "host" }

let took = G.valueOf field.took

let time = M.lower applies.grain U.millisecond

let m =
      { write =
              time "slow_write" "Slow write" took
          //  { where = X.equals (G.valueOf field.prefix) (X.text "")
              , doc = "Duration of a write that took longer than 100 ms"
              }
      , read =
              time "slow_read" "Slow read" took
          //  { where = X.matches (G.valueOf field.prefix) "read-only .*"
              , doc = "Duration of a read that took longer than 100 ms"
              }
      , excess =
              time "excess" "Beyond the limit" (X.minus took (G.valueOf field.limit))
          //  { doc = "Time by which a request exceeded the expected duration of etcd" }
      , sync =
              M.lower syncs.grain U.second "slow_sync_time" "Slow fdatasync" took
          //  { doc = "Duration of a write to disk that took longer than 1 s" }
      , compaction =
          M.lower compactions.grain U.millisecond "compaction_time" "Compaction" took // { doc = "Duration of a compaction" }
      , size =
              M.lower compactions.grain U.mebibyte "database_size" "Database" (G.valueOf field.size)
          //  { doc = "Size of the database after a compaction" }
      }

in  S.Package::{
    , system = "etcd"
    , sources = [ log ]
    , events = [ e.applied, e.synced, e.compacted ]
    , relations = [ applies.relation, syncs.relation, compactions.relation ]
    , grains = [ applies.grain // byMember, syncs.grain // byMember, compactions.grain // byMember ]
    , metrics = S.metrics (toMap m)
    , reports =
      [     R.comparison
              [ R.section "Slow requests" [ m.write, m.read, m.excess ]
              , R.section "Storage" [ m.sync, m.compaction, m.size ]
              ]
        //  R.versions version
        //  { title = "etcd {others} against {base}"
            , intro = "Slow requests and storage operations in the logs of the members."
            , charts = [ R.cdf m.read, R.cdf m.write ]
            }
      ]
    , coverage = [ S.onSomeHosts e.synced ]
    , examples =
      [ S.Example::{
        , name = "a slow write, a slow read, a slow disk and a compaction"
        , files =
          [ Q.file
              "etcd-1/etcd.log"
              ''
              {"ts":"2026-03-02T09:00:00Z","msg":"starting an etcd server","etcd-version":"3.5.9"}
              {"ts":"2026-03-02T09:00:01Z","msg":"apply request took too long","took":"150.5ms","expected-duration":"100ms","prefix":""}
              {"ts":"2026-03-02T09:00:02Z","msg":"apply request took too long","took":"1.25s","expected-duration":"100ms","prefix":"read-only range "}
              {"ts":"2026-03-02T09:00:03Z","msg":"slow fdatasync","took":"1.5s","expected-duration":"1s"}
              {"ts":"2026-03-02T09:00:04Z","msg":"finished scheduled compaction","took":"707.5µs","current-db-size-bytes":2097152}
              ''
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
