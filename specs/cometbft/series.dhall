-- Time series, read each second of an experiment as a Prometheus server would.
let S = ../schema/package.dhall

let G = S.grain

let X = S.x

let U = S.unit

let D = ./units.dhall

let e = ./events.dhall

let relations = ./relations.dhall

let labels = G.fieldNames [ e.job, e.instance ]

let windows = relations.windows.name

-- A target that did not answer has no value until it answers again, nor has one that is no longer asked.
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

-- Exporters are processes of their own; their jobs, and that of the server itself, are no node's.
let nodesOnly = X.not (X.matches (G.field e.job) ".*exporter.*|prometheus")

in  { mempoolSize =
        gauge { name = "mempool_size", event = e.mempool, unit = D.transaction, doc = "Transactions in each node's mempool" }
    , peers = gauge { name = "peer_count", event = e.peers, unit = D.peer, doc = "Peers of each node" }
    , rounds = gauge { name = "round_count", event = e.rounds, unit = D.round, doc = "Rounds of each node's consensus" }
    , memory = gauge { name = "memory", event = e.resident, unit = U.byte, doc = "Resident memory of each process" }
    , nodeMemory =
            gauge { name = "node_memory", event = e.resident, unit = U.byte, doc = "Resident memory of each node's process" }
        //  { samples = G.samplesWhere e.resident nodesOnly }
    , cpu = gauge { name = "cpu", event = e.load1, unit = U.none, doc = "Load average of each machine over a minute" }
    , heights =
            gauge { name = "heights", event = e.height, unit = D.block, doc = "Height of each node, also while it catches up" }
        //  { samples = G.samples e.height # G.samples e.syncedHeight }
    , rotatingHeights =
            gauge
              { name = "eph_heights", event = e.height, unit = D.block
              , doc = "Height of each rotating node (job `ephemeral...`), while it catches up that which it has reached"
              }
        //  { samples = ofRotating e.height # ofRotating e.syncedHeight }
    , blockRate =
        rate { name = "block_rate", event = e.height, unit = D.blockPerMinute, doc = "Blocks a minute that each node sees" }
    , totalTxsRate =
        rate
          { name = "total_txs_rate"
          , event = e.totalTxs
          , unit = D.transactionPerMinute
          , doc = "Transactions a minute that each node sees in blocks"
          }
    }
