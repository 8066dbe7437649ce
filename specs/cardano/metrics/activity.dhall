-- What hosts do with transactions, and what they log: one sample a slot of a host; each host has a distribution of its own.
let S = ../../schema/package.dhall

let X = S.x

let M = S.metric

let U = S.unit

let D = ../units.dhall

let hostSlot = ../grains/host_slot.dhall

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
        , name = "Transactions accepted"
        , column = c.accepted
        , unit = D.transaction
        , doc = "Transactions of peers that the mempool accepted, in a slot (TxSubmission.TxInbound.Processed, accepted)"
        }

let rejected =
          perSlot
            { id = "txsRejected"
            , name = "Transactions rejected"
            , column = c.rejected
            , unit = D.transaction
            , doc =
                "Transactions of peers that the mempool did not accept, in a slot (TxSubmission.TxInbound.Processed, rejected)"
            }
      //  lower

in  { collected =
        perSlot
          { id = "txsCollected"
          , name = "Transactions collected"
          , column = c.collected
          , unit = D.transaction
          , doc = "Transactions that peers offered, in a slot (TxSubmission.TxInbound.Collected)"
          }
    , accepted
    , rejected
    , refused =
            perSlot
              { id = "mempoolRefusals"
              , name = "Mempool refusals"
              , column = c.refused
              , unit = U.event
              , doc =
                  "How often the mempool turned a transaction down, in a slot (Mempool.RejectedTx): transactions of peers, and those submitted to the host"
              }
        //  lower
    , mempoolTxs =
        perSlot
          { id = "mempoolTxs"
          , name = "Mempool size"
          , column = c.mempoolTxs
          , unit = D.transaction
          , doc =
              "Transactions in the mempool at the end of a slot: as last logged, in the slot or before (Mempool.AddedTx, Mempool.RemoveTxs)"
          }
    , forged =
        perSlot
          { id = "hostForges"
          , name = "Blocks forged"
          , column = c.forged
          , unit = D.block
          , doc = "Blocks that the host forged, in a slot (Forge.Loop.ForgedBlock); on the main chain or not"
          }
    , snapshots =
        perSlot
          { id = "ledgerSnapshots"
          , name = "Ledger snapshots"
          , column = c.snapshots
          , unit = U.event
          , doc = "Snapshots of the ledger that were on disk, in a slot (ChainDB.LedgerEvent.Snapshot.TookSnapshot)"
          }
    , objects =
        perSlot
          { id = "logObjects"
          , name = "Log objects"
          , column = c.objects
          , unit = U.count
          , doc = "Log objects of events that metrics read, in a slot; from the one that reached the slot on"
          }
    , acceptedShare =
            M.formula
              { id = "txsAcceptedShare"
              , name = "Share of transactions accepted"
              , doc = "Transactions that the mempool accepted, of those of peers that were processed"
              , formula = X.over (M.value accepted) (X.plus (M.value accepted) (M.value rejected))
              , unit = U.ratio
              }
        //  { better = "higher"
            , examples =
              [ { given = [ M.given accepted 3.0 D.transaction, M.given rejected 1.0 D.transaction ]
                , shows = "0.75"
                , unit = U.ratio
                , doc = "One of four transactions is turned down"
                }
              ]
            }
    }
