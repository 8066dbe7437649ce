-- A slot of a host.
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

let name = "slot"

let sinceSystemStart = X.atLeast G.rowInstant (of constant.systemStart)

-- The last event of a kind that names the slot.
let last =
      \(instant : Text) ->
      \(event : S.Event) ->
      \(doc : Text) ->
        S.Instant::{
        , name = instant
        , grain = name
        , pick = "last"
        , of = event.name
        , on = [ G.sameColumn c.host c.host, G.same c.slot f.slot ]
        , where = sinceSystemStart
        , doc
        }

let at =
      { slotStart = S.Instant::{
        , name = "slot_start"
        , grain = name
        , pick = "computed"
        , value = X.plus (of constant.systemStart) (X.times (X.column c.slot) (of constant.slotLength))
        , doc = "Start of the slot"
        }
      , started = last "started" events.leadershipCheckStarted "The forge loop started"
      , blockContext = last "block_context_known" events.blockContext "The block context was acquired"
      , ledgerState = last "ledger_state_known" events.ledgerState "The ledger state was acquired"
      , ledgerView = last "ledger_view_known" events.ledgerView "The ledger view was acquired"
      , decided = last "decided" events.leadershipDecided "Leadership was decided"
      }

let starts = G.column "unsigned" "starts" S.unit.count "Number of forge loop starts in the slot"

let leads = G.column "unsigned" "leads" S.unit.count "Number of positive leadership decisions in the slot"

let grain =
      S.Grain::{
      , name
      , relation = relations.slots.name
      , key = [ c.host.name, c.slot.name ]
      , columns = relations.slots.columns
      , instants = [ at.slotStart, at.started, at.blockContext, at.ledgerState, at.ledgerView, at.decided ]
      , tallies =
        [ { column = starts
          , of = events.leadershipCheckStarted.name
          , on = [ G.sameColumn c.host c.host, G.same c.slot f.slot ]
          , where = sinceSystemStart
          }
        , { column = leads
          , of = events.leadershipDecided.name
          , on = [ G.sameColumn c.host c.host, G.same c.slot f.slot ]
          , where = X.all [ sinceSystemStart, X.equals (G.field f.leader) X.yes ]
          }
        ]
      , checks =
        [ S.Check::{
          , code = "no-slot-left"
          , sql = ../../../queries/cardano/checks/no_slot_left.sql as Text
          , uses = [ name, "logs" ]
          , message = "{host} has no analysed slots"
          , hint = "remove the host from the run, or relax the filters on slots"
          }
        ]
      , at = at.slotStart.name
      , time = c.slot.name
      , cluster = c.host.name
      , doc = "A slot of a host's timeline"
      }

in  { grain
    , name
    , at
    , starts
    , leads
    , column = c
    , host = c.host
    }
