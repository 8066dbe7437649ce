-- Series, evaluated each second of an experiment by the rules of a Prometheus server.
let S = ../schema/package.dhall

let G = S.grain

let X = S.x

let U = S.unit

let D = ./units.dhall

let e = ./events.dhall

let relations = ./relations.dhall

let labels = G.fieldNames [ e.job, e.instance ]

let windows = relations.windows.name

-- A target that does not respond, or is no longer scraped, has no value until it responds again.
let gone = Some { event = e.up.name, on = labels, where = X.equals (G.field e.value) (X.natural 0) }

let ofRotating = \(event : S.Event) -> G.samplesWhere event (X.equals (G.field e.role) (X.text "ephemeral"))

let gauge =
      \(s : { name : Text, event : S.Event, unit : S.Unit, doc : Text }) ->
        S.Series::{
        , name = s.name
        , samples = G.samples s.event
        , by = labels
        , windows
        , reading = "latest"
        , windowNs = 300000000000
        , gone
        , ceases = True
        , unit = s.unit
        , doc = s.doc
        }

let rate =
      \(s : { name : Text, event : S.Event, unit : S.Unit, doc : Text }) ->
        gauge s // { reading = "rate", windowNs = 20000000000, gone = None G.Gone, ceases = False }

-- Excludes the jobs of exporters and of the Prometheus server itself, which are not nodes.
let nodesOnly = X.not (X.matches (G.field e.job) ".*exporter.*|prometheus")

in  { mempoolSize =
        gauge { name = "mempool_size", event = e.mempool, unit = D.transaction, doc = "Transactions in each node's mempool" }
    , peers = gauge { name = "peer_count", event = e.peers, unit = D.peer, doc = "Peers of each node" }
    , rounds = gauge { name = "round_count", event = e.rounds, unit = D.round, doc = "Consensus rounds of each node" }
    , memory = gauge { name = "memory", event = e.resident, unit = U.byte, doc = "Resident memory of each process" }
    , nodeMemory =
            gauge { name = "node_memory", event = e.resident, unit = U.byte, doc = "Resident memory of each node's process" }
        //  { samples = G.samplesWhere e.resident nodesOnly }
    , cpu = gauge { name = "cpu", event = e.load1, unit = U.none, doc = "One-minute load average of each machine" }
    , heights =
            gauge { name = "heights", event = e.height, unit = D.block, doc = "Height of each node, including while it catches up" }
        //  { samples = G.samples e.height # G.samples e.syncedHeight }
    , rotatingHeights =
            gauge
              { name = "eph_heights", event = e.height, unit = D.block
              , doc = "Height of each rotating node (job `ephemeral...`), including while it catches up"
              }
        //  { samples = ofRotating e.height # ofRotating e.syncedHeight }
    , blockRate =
        rate { name = "block_rate", event = e.height, unit = D.blockPerMinute, doc = "Blocks per minute by node" }
    , totalTxsRate =
        rate
          { name = "total_txs_rate"
          , event = e.totalTxs
          , unit = D.transactionPerMinute
          , doc = "Transactions in blocks per minute by node"
          }
    }
