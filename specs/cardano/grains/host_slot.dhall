-- A slot of a host, with counts of the records in it.
let S = ../../schema/package.dhall

let G = S.grain

let U = S.unit

let D = ../units.dhall

let e = ../events.dhall

let relations = ../relations.dhall

let c = relations.column

let name = "host_slot"

let slotStart = G.column "instant" "slot_start" U.nanosecond "Start of the slot"

let count = \(unit : U.Unit) -> \(column : Text) -> \(doc : Text) -> G.column "integer" column unit doc

let column =
      { objects = count U.count "objects" "Log objects of events that metrics use"
      , collected = count D.transaction "txs_collected" "Collected transactions: offered by peers"
      , accepted = count D.transaction "txs_accepted" "Transactions of peers accepted by the mempool"
      , rejected = count D.transaction "txs_rejected" "Transactions of peers rejected by the mempool"
      , refused = count U.event "txs_refused" "Rejections of single transactions, as logged by the mempool"
      , mempoolTxs = count D.transaction "mempool_txs" "Transactions in the mempool at the end of the slot"
      , forged = count D.block "forged" "Blocks that the host forged"
      , snapshots = count U.event "snapshots" "Ledger snapshots written to disk"
      }

let relation =
      S.Relation::{
      , name = "host_activity"
      , sql = ../../../queries/cardano/host_activity.sql as Text
      , uses =
        [ relations.timeline.name
        , e.txsCollected.name
        , e.txsProcessed.name
        , e.mempoolSize.name
        , e.txRejected.name
        , e.blockForged.name
        , e.ledgerSnapshot.name
        , e.resources.name
        , e.leadershipCheckStarted.name
        , e.blockContext.name
        , e.ledgerState.name
        , e.ledgerView.name
        , e.leadershipDecided.name
        , e.ledgerTicked.name
        , e.mempoolSnapshot.name
        , e.headerSeen.name
        , e.fetchRequested.name
        , e.fetchCompleted.name
        , e.headerAnnounced.name
        , e.blockSent.name
        , e.blockAdopted.name
        , e.ledgerMetrics.name
        , e.txsAcked.name
        , e.generatorSummary.name
        ]
      , columns =
        [ c.host
        , c.slot
        , slotStart
        , column.objects
        , column.collected
        , column.accepted
        , column.rejected
        , column.refused
        , column.mempoolTxs
        , column.forged
        , column.snapshots
        ]
      , key = [ "host", "slot" ]
      , doc = "Counts of records of each host in each slot of its timeline"
      }

in  { relation
    , grain =
        S.Grain::{
        , name
        , relation = relation.name
        , key = [ c.host.name, c.slot.name ]
        , columns = relation.columns
        , at = slotStart.name
        , time = c.slot.name
        , cluster = c.host.name
        , doc = "A slot of a host's timeline, with counts of the records in it"
        }
    , name
    , column
    , host = c.host
    , slot = c.slot
    , start = slotStart
    }
