-- The logs of Kafka brokers (log4j's default pattern): rebalances of consumer groups, and segments of partitions.
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
      , files = [ "broker-*/server.log" ]
      , line = "[{} {}] INFO Kafka version: {value} ({})"
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
      , constants = [ version ]
      , ignored = [ "Kafka version: *", "[KafkaServer id=#] *" ]
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

let rebalances = G.records "rebalances" e.prepared "A rebalance of a group"

let segments = G.records "segments" e.rolled "A new segment"

let snapshots = G.records "snapshots" e.snapshot "A snapshot of the producer state"

let stabilized = rebalances.first "stabilized" e.stabilized groupFields

let assigned = rebalances.first "assigned" e.assigned groupFields

let time = M.lower rebalances.grain U.millisecond

let m =
      { join =
              time "join_time" "Joining" (S.elapsed { from = [ rebalances.at ], to = stabilized })
          //  { doc = "Time until all members of the group rejoined" }
      , assign =
              time "assignment_time" "Assignment" (S.elapsed { from = [ stabilized ], to = assigned })
          //  { doc = "Time until partitions were assigned" }
      , rebalance =
              time "rebalance_time" "Rebalance" (S.elapsed { from = [ rebalances.at ], to = assigned })
          //  { doc = "Time during which the group consumed nothing" }
      , members =
          (S.metricOf rebalances.grain)::{
          , id = "members"
          , name = "Members"
          , measure = G.taken stabilized field.members
          , unit = U.count
          , doc = "Members of the group after the rebalance"
          }
      , roll =
              M.lower segments.grain U.millisecond "roll_time" "Segment roll" (G.valueOf field.took)
          //  { doc = "Time to open a new segment" }
      , snapshot =
              M.lower snapshots.grain U.millisecond "snapshot_time" "Snapshot" (G.valueOf field.took)
          //  { doc = "Time to write a snapshot of the producer state" }
      }

let byBroker = { cluster = "host" }

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
    , reports =
      [     R.comparison
              [     R.section "Consumer groups" [ m.join, m.assign, m.rebalance, m.members ]
                //  { columns = [ "median", "max" ] }
              , R.section "Storage" [ m.roll, m.snapshot ]
              ]
        //  R.versions version
        //  { title = "Kafka {others} against {base}"
            , intro = "Consumer groups and segments, from the logs of three brokers."
            , charts = [ R.cdf m.rebalance, R.cdf m.roll ]
            }
      ]
    , examples =
      [ S.Example::{
        , name = "a rebalance and a segment"
        , files =
          [ Q.file
              "broker-1/server.log"
              ''
              [2026-03-02 09:00:00,000] INFO Kafka version: 3.6.1 (kafka.Class)
              [2026-03-02 09:00:01,000] INFO [GroupCoordinator 1]: Preparing to rebalance group a in state PreparingRebalance with old generation 3 (__consumer_offsets-7) (reason: Adding new member c-1 with group instance id None; client reason: not provided) (kafka.Class)
              [2026-03-02 09:00:01,750] INFO [GroupCoordinator 1]: Stabilized group a generation 4 (__consumer_offsets-7) with 2 members (kafka.Class)
              [2026-03-02 09:00:01,800] INFO [GroupCoordinator 1]: Assignment received from leader c-1 for group a for generation 4. The group has 2 members, 0 of which are static. (kafka.Class)
              [2026-03-02 09:00:02,000] INFO [ProducerStateManager partition=t-0] Wrote producer snapshot at offset 9 with 1 producer ids in 2 ms. (kafka.Class)
              [2026-03-02 09:00:02,004] INFO [UnifiedLog partition=t-0, dir=/data] Rolled new log segment at offset 9 in 6 ms. (kafka.Class)
              ''
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
