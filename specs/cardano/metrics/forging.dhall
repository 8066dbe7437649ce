-- Forging: one sample per block, on the host that forged it.
let S = ../../schema/package.dhall

let breaks = ../breaks.dhall

let G = S.grain

let X = S.x

let U = S.unit

let block = ../grains/block.dhall

let at = block.at

let forging =
      \(m : { id : Text, name : Text, measure : S.Expression, doc : Text }) ->
        S.Metric::(m /\ { grain = block.name, unit = U.second, better = "lower" })

let elapsed = \(from : S.Instant.Type) -> \(to : S.Instant.Type) -> S.elapsed { from = [ from ], to }

-- Compatibility: if the host has no record of the end, the step takes 10 ms, as in published numbers.
let assumed = X.quantity 0.01 U.second

let elapsedOrAssumed =
      \(from : S.Instant.Type) -> \(to : S.Instant.Type) -> S.orElse (elapsed from to) assumed

in  { start =
        forging
          { id = "cdfForgerStart"
          , name = "Started forge loop iteration"
          , measure = elapsed at.slotStart at.started
          , doc = "Forge loop iteration delay (TraceStartLeadershipCheck), relative to slot start"
          }
    , blockContext =
            forging
              { id = "cdfForgerBlkCtx"
              , name = "Acquired block context"
              , measure = elapsed at.started at.blockContext
              , doc = "Block context acquired (TraceBlockContext), relative to forge loop beginning"
              }
        //  { breaks = breaks.blockContext }
    , ledgerState =
        forging
          { id = "cdfForgerLgrState"
          , name = "Acquired ledger state"
          , measure = elapsed at.blockContext at.ledgerState
          , doc = "Ledger state acquired (TraceLedgerState), relative to block context acquisition"
          }
    , ledgerView =
        forging
          { id = "cdfForgerLgrView"
          , name = "Acquired ledger view"
          , measure = elapsed at.ledgerState at.ledgerView
          , doc = "Ledger view acquired (TraceLedgerView), relative to ledger state acquisition"
          }
    , lead =
        forging
          { id = "cdfForgerLead"
          , name = "Leadership check duration"
          , measure = S.elapsed { from = [ at.ledgerView, at.started ], to = at.leading }
          , doc =
              "Leadership check duration (TraceNodeIsNotLeader, TraceNodeIsLeader), relative to ledger view acquisition"
          }
    , ticked =
        forging
          { id = "cdfForgerTicked"
          , name = "Ledger ticking"
          , measure = elapsed at.leading at.ticked
          , doc =
              "Time spent ticking the ledger state (TraceForgeTickedLedgerState), relative to leadership check completion"
          }
    , snapshot =
        forging
          { id = "cdfForgerMemSnap"
          , name = "Mempool snapshotting"
          , measure = elapsed at.ticked at.snapshot
          , doc =
              "Time spent taking a mempool snapshot (TraceForgingMempoolSnapshot), relative to ledger ticking conclusion"
          }
    , forge =
        forging
          { id = "cdfForgerForge"
          , name = "Leadership to forged"
          , measure = S.elapsed { from = [ at.snapshot, at.leading ], to = at.forged }
          , doc = "Time spent forging the block: TraceForgedBlock relative to positive leadership decision"
          }
    , announce =
        forging
          { id = "cdfForgerAnnounce"
          , name = "Forged to announced"
          , measure = elapsedOrAssumed at.forged at.announced
          , doc =
              "Time between block forging completion and header announcement (ChainSyncServerEvent.TraceChainSyncServerRead.AddBlock)"
          }
    , send =
        forging
          { id = "cdfForgerSend"
          , name = "Forged to sending"
          , measure = elapsedOrAssumed at.forged at.sending
          , doc = "Time between block forging completion and begin-of-sending (TraceBlockFetchServerSendBlock)"
          }
    -- No example has the 10 ms: the record of the adoption also has the size, and blocks without a size are rejected.
    , adoption =
        forging
          { id = "cdfForgerAdoption"
          , name = "Forged to self-adopted"
          , measure = elapsedOrAssumed at.forged at.adopted
          , doc = "Time between block forging completion and adoption (TraceAdoptedBlock)"
          }
    , announceCum =
            forging
              { id = "cdfForgerAnnounceCum"
              , name = "Slot start to announced"
              , measure = elapsedOrAssumed at.slotStart at.announced
              , doc =
                  "Time since slot start until header announcement (ChainSyncServerEvent.TraceChainSyncServerRead.AddBlock)"
              }
        //  { breaks = breaks.sinceSlotStart }
    }
