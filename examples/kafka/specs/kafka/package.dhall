-- The logs of Kafka brokers (log4j's default pattern): rebalances of consumer groups, and segments of partitions.
let S = ../schema/package.dhall

let E = S.event

let G = S.grain

let R = S.report

let U = S.unit

let X = S.x

let version =
      S.Constant::{
      , name = "version"
      , files = [ "broker-*/server.log" ]
      , line = "[{} {}] INFO Kafka version: {value} ({})"
      , type = "text"
      , doc = "Version of the brokers"
      }

let log =
      S.Source::{
      , name = "log"
      , kind = "text-lines"
      , hosts = "broker-*"
      , logs = [ "server.log*" ]
      , line = "[{date} {clock}] {level} {message...} ({class})"
      , time = [ "date", "clock" ]
      , zone = "UTC"
      , body = [ "message" ]
      , lookups = [] : List S.source.Lookup
      , constants = [ version ]
      , ignored = [ "Kafka version: *", "[KafkaServer id=#] *" ]
      , doc = "Log of a broker"
      }

-- A rebalance is logged with the generation before it: add 1 for the generation after it.
let field =
      { group = E.text "group"
      , oldGeneration = E.changed [ E.plus +1 ] (E.integer "generation")
      , generation = E.integer "generation"
      , members = E.inUnit U.count (E.integer "members")
      , partition = E.text "partition"
      , took = E.inUnit U.millisecond (E.integer "took")
      }

let event = E.eventOf log

let groupFields = [ field.group, field.generation ]

let segmentFields = [ field.partition, field.took ]

let e =
      { prepared =
          event
            "rebalance_prepared"
            "[GroupCoordinator {}]: Preparing to rebalance group {group} in state {} with old generation {generation} ({}) (reason: {...})"
            [ field.group, field.oldGeneration ]
            "The coordinator requested members to rejoin"
      , stabilized =
          event
            "group_stabilized"
            "[GroupCoordinator {}]: Stabilized group {group} generation {generation} ({}) with {members} members"
            (groupFields # [ field.members ])
            "All members joined"
      , assigned =
          event
            "assignment_received"
            "[GroupCoordinator {}]: Assignment received from leader {} for group {group} for generation {generation}. {...}"
            groupFields
            "The leader assigned the partitions"
      , rolled =
          event
            "segment_rolled"
            "[UnifiedLog partition={partition}, dir={}] Rolled new log segment at offset {} in {took} ms."
            segmentFields
            "A full segment was closed and a new one opened"
      , snapshot =
          event
            "snapshot_written"
            "[ProducerStateManager partition={partition}] Wrote producer snapshot at offset {} with {} producer ids in {took} ms."
            segmentFields
            "A snapshot of the producer state was written"
      }

let rebalances =
      G.eachRecord
        { name = "rebalances", event = e.prepared, fields = [ field.group, field.oldGeneration ], doc = "A rebalance of a group" }

let segments = G.eachRecord { name = "segments", event = e.rolled, fields = segmentFields, doc = "A new segment" }

let snapshots = G.eachRecord { name = "snapshots", event = e.snapshot, fields = segmentFields, doc = "A snapshot of the producer state" }

let ofGeneration =
      \(name : Text) ->
      \(event : S.Event) ->
        S.Instant::{
        , name
        , grain = rebalances.grain.name
        , pick = "first"
        , of = event.name
        , on =
          [ G.sameColumn rebalances.host rebalances.host
          , G.same (G.columnOf field.group) field.group
          , G.same (G.columnOf field.generation) field.generation
          ]
        , doc = event.doc
        }

let stabilized = ofGeneration "stabilized" e.stabilized

let assigned = ofGeneration "assigned" e.assigned

let column = \(f : S.Field) -> X.column (G.columnOf f)

let ofRebalance = (S.metricOf rebalances.grain) with default.unit = U.millisecond with default.better = "lower"

let m =
      { join =
          ofRebalance::{
          , id = "join_time"
          , name = "Joining"
          , measure = S.elapsed { from = [ rebalances.at ], to = stabilized }
          , doc = "Time until all members of the group rejoined"
          }
      , assign =
          ofRebalance::{
          , id = "assignment_time"
          , name = "Assignment"
          , measure = S.elapsed { from = [ stabilized ], to = assigned }
          , doc = "Time until partitions were assigned"
          }
      , rebalance =
          ofRebalance::{
          , id = "rebalance_time"
          , name = "Rebalance"
          , measure = S.elapsed { from = [ rebalances.at ], to = assigned }
          , doc = "Time during which the group consumed nothing"
          }
      , members =
          ofRebalance::{
          , id = "members"
          , name = "Members"
          , measure = G.taken stabilized field.members
          , unit = U.count
          , better = "neither"
          , doc = "Members of the group after the rebalance"
          }
      , roll =
          S.Metric::{
          , id = "roll_time"
          , name = "Segment roll"
          , grain = segments.grain.name
          , measure = column field.took
          , unit = U.millisecond
          , better = "lower"
          , doc = "Time to open a new segment"
          }
      , snapshot =
          S.Metric::{
          , id = "snapshot_time"
          , name = "Snapshot"
          , grain = snapshots.grain.name
          , measure = column field.took
          , unit = U.millisecond
          , better = "lower"
          , doc = "Time to write a snapshot of the producer state"
          }
      }

let groups = [ m.join, m.assign, m.rebalance, m.members ]

let storage = [ m.roll, m.snapshot ]

let byBroker = { cluster = "host" }

let Q = S.example

let line = \(time : Text) -> \(text : Text) -> "[2026-03-02 09:00:${time}] INFO ${text} (kafka.Class)"

in  S.Package::{
    , system = "kafka"
    , sources = [ log ]
    , events = [ e.prepared, e.stabilized, e.assigned, e.rolled, e.snapshot ]
    , relations = [ rebalances.relation, segments.relation, snapshots.relation ]
    , grains =
      [     rebalances.grain
        //  byBroker
        //  { instants = [ rebalances.at, stabilized, assigned ]
            , derived = [ { column = G.columnOf field.members, value = G.taken stabilized field.members } ]
            , dimensions = [ field.members.name ]
            }
      , segments.grain // byBroker
      , snapshots.grain // byBroker
      ]
    , metrics = S.metrics (toMap m)
    , summaries = [ S.Summary::{ name = "all", doc = "All samples count alike" } ]
    , reports =
      [ S.Report::{
        , name = "comparison"
        , title = "Kafka {others} against {base}"
        , intro = "Consumer groups and segments, from the logs of three brokers."
        , manifest = [ R.fact "Version" version (R.text 0) ]
        , sections =
          [ R.section "Consumer groups" groups // { columns = [ "median", "max" ] }, R.section "Storage" storage ]
        , charts = [ R.cdf m.rebalance, R.cdf m.roll ]
        , dictionary = [ R.group "Consumer groups" groups, R.group "Storage" storage ]
        , style = "prefixed"
        , summary = "all"
        , label = version.name
        }
      ]
    , examples =
      [ S.Example::{
        , name = "a rebalance and a segment"
        , files =
          [ Q.file
              "broker-1/server.log"
              ( Q.lines
                  [ line "00,000" "Kafka version: 3.6.1"
                  , line
                      "01,000"
                      "[GroupCoordinator 1]: Preparing to rebalance group a in state PreparingRebalance with old generation 3 (__consumer_offsets-7) (reason: Adding new member c-1 with group instance id None; client reason: not provided)"
                  , line "01,750" "[GroupCoordinator 1]: Stabilized group a generation 4 (__consumer_offsets-7) with 2 members"
                  , line
                      "01,800"
                      "[GroupCoordinator 1]: Assignment received from leader c-1 for group a for generation 4. The group has 2 members, 0 of which are static."
                  , line "02,000" "[ProducerStateManager partition=t-0] Wrote producer snapshot at offset 9 with 1 producer ids in 2 ms."
                  , line "02,004" "[UnifiedLog partition=t-0, dir=/data] Rolled new log segment at offset 9 in 6 ms."
                  ]
              )
          ]
        , expect =
          [ Q.samples m.join [ "750" ]
          , Q.samples m.assign [ "50" ]
          , Q.samples m.rebalance [ "800" ]
          , Q.samples m.members [ "2" ]
          , Q.samples m.roll [ "6" ]
          , Q.samples m.snapshot [ "2" ]
          ]
        }
      ]
    }
