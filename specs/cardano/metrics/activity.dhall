-- Activity of hosts: one sample per slot of a host, one distribution per host.
let S = ../../schema/package.dhall

let X = S.x

let M = S.metric

let U = S.unit

let D = ../units.dhall

let hostSlot = ../grains/host_slot.dhall

let field = (../events.dhall).field

let snapshots = ../grains/snapshot.dhall

let c = hostSlot.column

-- No filter applies to these rows.
let ofSlots = { grain = hostSlot.name, per = hostSlot.host.name, accepted = False }

let perSlot =
      \(m : { id : Text, name : Text, column : S.Column, unit : U.Unit, doc : Text }) ->
        S.Metric::(m.{ id, name, unit, doc } /\ ofSlots /\ { measure = X.column m.column })

let lower = { better = "lower" }

let accepted =
      perSlot
        { id = "txsAccepted"
        , name = "Accepted transactions"
        , column = c.accepted
        , unit = D.transaction
        , doc = "Transactions of peers accepted by the mempool per slot (TxSubmission.TxInbound.Processed, accepted)"
        }

let rejected =
          perSlot
            { id = "txsRejected"
            , name = "Rejected transactions"
            , column = c.rejected
            , unit = D.transaction
            , doc =
                "Transactions of peers rejected by the mempool per slot (TxSubmission.TxInbound.Processed, rejected)"
            }
      //  lower

in  { collected =
        perSlot
          { id = "txsCollected"
          , name = "Collected transactions"
          , column = c.collected
          , unit = D.transaction
          , doc = "Transactions offered by peers per slot (TxSubmission.TxInbound.Collected)"
          }
    , accepted
    , rejected
    , refused =
            perSlot
              { id = "mempoolRefusals"
              , name = "Mempool rejections"
              , column = c.refused
              , unit = U.event
              , doc =
                  "Transactions rejected by the mempool per slot (Mempool.RejectedTx), both of peers and submitted to the host"
              }
        //  lower
    , mempoolTxs =
        perSlot
          { id = "mempoolTxs"
          , name = "Mempool size"
          , column = c.mempoolTxs
          , unit = D.transaction
          , doc =
              "Transactions in the mempool at the end of a slot, from the last record in or before it (Mempool.AddedTx, Mempool.RemoveTxs)"
          }
    , forged =
        perSlot
          { id = "hostForges"
          , name = "Forged blocks"
          , column = c.forged
          , unit = D.block
          , doc = "Blocks forged by the host per slot (Forge.Loop.ForgedBlock), on the main chain or not"
          }
    , snapshots =
        perSlot
          { id = "ledgerSnapshots"
          , name = "Ledger snapshots"
          , column = c.snapshots
          , unit = U.event
          , doc = "Ledger snapshots written to disk per slot (ChainDB.LedgerEvent.Snapshot.TookSnapshot)"
          }
    , snapshotTime =
        S.Metric::{
        , id = "ledgerSnapshotTime"
        , name = "Duration of a ledger snapshot"
        , grain = snapshots.grain.name
        , measure = X.column (S.grain.columnOf field.enclosed)
        , accepted = False
        , unit = U.second
        , better = "lower"
        , doc = "Time to write a ledger snapshot to disk, as logged at its end (ChainDB.LedgerEvent.Snapshot.TookSnapshot)"
        }
    , objects =
        perSlot
          { id = "logObjects"
          , name = "Log objects"
          , column = c.objects
          , unit = U.count
          , doc = "Log objects of events that metrics use per slot, from the one that reached the slot on"
          }
    , acceptedShare =
            M.formula
              { id = "txsAcceptedShare"
              , name = "Share of accepted transactions"
              , doc = "Accepted transactions of peers, as a share of those processed"
              , formula = X.over (M.value accepted) (X.plus (M.value accepted) (M.value rejected))
              , unit = U.ratio
              }
        //  { better = "higher"
            , examples =
              [ { inputs = [ M.input accepted 3.0 D.transaction, M.input rejected 1.0 D.transaction ]
                , shows = "0.75"
                , unit = U.ratio
                , doc = "One of four transactions is rejected"
                }
              ]
            }
    }
