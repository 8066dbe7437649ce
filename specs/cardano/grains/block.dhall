-- A block of the main chain, on the host that forged it.
let S = ../../schema/package.dhall

let G = S.grain

let X = S.x

let D = ../units.dhall

let events = ../events.dhall

let f = events.field

let relations = ../relations.dhall

let c = relations.column

let constant = (../source.dhall).constant

let of = S.source.constant

let name = "block"

-- The last event of a kind on the host before the forging, regardless of its slot.
let latest =
      \(instant : Text) ->
      \(event : S.Event) ->
      \(doc : Text) ->
        S.Instant::{
        , name = instant
        , grain = name
        , pick = "latest before"
        , of = event.name
        , on = [ G.sameColumn c.forger c.host ]
        , before = "forged"
        , doc
        }

-- The first event of a kind on the host that names the block.
let first =
      \(instant : Text) ->
      \(event : S.Event) ->
      \(doc : Text) ->
        S.Instant::{
        , name = instant
        , grain = name
        , pick = "first"
        , of = event.name
        , on = [ G.sameColumn c.forger c.host, G.same c.block f.block ]
        , doc
        }

let at =
      { slotStart = S.Instant::{
        , name = "slot_start"
        , grain = name
        , pick = "computed"
        , value = X.plus (of constant.systemStart) (X.times (X.column c.slot) (of constant.slotLength))
        , doc = "Start of the block's slot"
        }
      , started = latest "started" events.leadershipCheckStarted "The forge loop started"
      , blockContext = latest "block_context_known" events.blockContext "The block context was acquired"
      , ledgerState = latest "ledger_state_known" events.ledgerState "The ledger state was acquired"
      , ledgerView = latest "ledger_view_known" events.ledgerView "The ledger view was acquired"
      , leading =
              latest "leading" events.leadershipDecided "The host was leader of the slot"
          //  { where = X.equals (G.field f.leader) X.yes }
      , ticked = latest "ticked" events.ledgerTicked "The ledger state was ticked"
      , snapshot = latest "snapshot" events.mempoolSnapshot "The mempool snapshot was taken"
      , forged = first "forged" events.blockForged "The block was forged"
      , announced = first "announced" events.headerAnnounced "The header was announced to a peer"
      , sending = first "sending" events.blockSent "The block was sent to a peer"
      , adopted = first "adopted" events.blockAdopted "The block was adopted" // { fields = [ f.chainDelta.name ] }
      , sized =
              first "sized" events.blockAdopted "The host logged the block's size"
          //  { where = X.present (G.field f.size), fields = [ f.size.name ] }
      }

let size = G.column "integer" "size" S.unit.byte "Size of the block"

-- Columns of the grain `observation`, which is based on this one.
let complete = G.column "boolean" "complete" S.unit.none ""

let minimumAdoptions =
      G.column "integer" "adopting_observers" S.unit.none "Observers that adopted the block"

let epochSlot =
      X.minus
        (X.column c.slot)
        (X.times (X.div (X.column c.slot) (of constant.epochLength)) (of constant.epochLength))

let derived =
      { epoch =
        { column = G.column "integer" "epoch" D.epoch "Epoch of the block's slot"
        , value = S.x.asUnit D.epoch (X.div (X.column c.slot) (of constant.epochLength))
        }
      , epochSlot =
        { column = G.column "integer" "epoch_slot" D.slot "Slot within its epoch", value = epochSlot }
      , safeInterval =
        { column = G.column "integer" "safe_interval" S.unit.none "Safe interval of the block's slot"
        , value =
            X.floor
              ( X.asUnit
                  S.unit.none
                  (X.times (X.over epochSlot (of constant.securityParameter)) (of constant.activeSlots))
              )
        }
      , size = { column = size, value = G.taken at.sized f.size }
      }

let adoptingObservers =
      { column = minimumAdoptions
      , of = "observation"
      , on = [ G.sameColumn c.block c.block ]
      , where =
          X.all
            [ G.fieldColumn complete
            , X.present (G.fieldColumn c.adopted)
            ]
      }

let grain =
      S.Grain::{
      , name
      , relation = relations.chain.name
      , key = [ c.block.name ]
      , columns = relations.chain.columns
      , instants =
        [ at.slotStart
        , at.started
        , at.blockContext
        , at.ledgerState
        , at.ledgerView
        , at.leading
        , at.ticked
        , at.snapshot
        , at.forged
        , at.announced
        , at.sending
        , at.adopted
        , at.sized
        ]
      , tallies = [ adoptingObservers ]
      , derived = [ derived.epoch, derived.epochSlot, derived.safeInterval, derived.size ]
      , checks =
          relations.slotChecks
        # [ S.Check::{
          , code = "block-incomplete"
          , sql = ../../../queries/cardano/checks/not_forged_properly.sql as Text
          , uses = [ name ]
          , message = "block {block} (number {block_no}) of the main chain has no record of its {missing} on {forger}"
          , hint = "check whether the log of {forger} is truncated or lost lines"
          }
        , S.Check::{
          , code = "all-rejected"
          , sql = ../../../queries/cardano/checks/all_rejected.sql as Text
          , uses = [ name ]
          , message = "the filters reject all {blocks} blocks of the main chain"
          , hint = "relax the filters, or use --no-filters"
          }
        ]
      , at = at.slotStart.name
      , time = c.slot.name
      , doc = "A block of the main chain, on the host that forged it"
      }

in  { grain
    , name
    , at
    , block = c.block
    , slot = c.slot
    , battles = c.battles
    , epoch = derived.epoch.column
    , epochSlot = derived.epochSlot.column
    , safeInterval = derived.safeInterval.column
    , size
    , adoptingObservers = minimumAdoptions
    , chainDelta = G.taken at.adopted f.chainDelta
    }
