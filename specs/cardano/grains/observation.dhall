-- A block of the main chain, as seen by one of its observers.
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

let block = ./block.dhall

let name = "observation"

let first =
      \(instant : Text) ->
      \(event : S.Event) ->
      \(doc : Text) ->
        S.Instant::{
        , name = instant
        , grain = name
        , pick = "first"
        , of = event.name
        , on = [ G.sameColumn c.host c.host, G.same c.block f.block ]
        , doc
        }

let noticed = first "noticed" events.headerSeen "The header was downloaded" // { fields = [ f.slot.name ] }

let at =
      { slotStart = S.Instant::{
        , name = "slot_start"
        , grain = name
        , pick = "computed"
        , value = X.plus (of constant.systemStart) (X.times (G.taken noticed f.slot) (of constant.slotLength))
        , doc = "Start of the slot that the header names"
        }
      , noticed
      , requested =
          first "requested" events.fetchRequested "The block was requested" // { fields = [ f.length.name ] }
      , fetched = first "fetched" events.fetchCompleted "The block was fetched"
      , announced = first "announced" events.headerAnnounced "The header was announced to a peer"
      , sending = first "sending" events.blockSent "The block was sent to a peer"
      , adopted =
          first "adopted" events.blockAdopted "The block was adopted" // { fields = [ f.chainDelta.name ] }
      }

let complete = G.column "boolean" "complete" S.unit.none "Whether the observation has a notice, a request and a fetch"

let chainDelta = G.column "integer" "chain_delta" D.block "Number of blocks that the adoption added to the chain"

let valid = G.column "boolean" "valid" S.unit.none "Whether metrics count the observation"

let notNegative =
      \(from : S.Instant.Type) -> \(to : S.Instant.Type) -> X.atLeast (G.instant to) (G.instant from)

let derived =
      [ { column = complete
        , value = X.all [ X.present (G.instant at.noticed), X.present (G.instant at.requested), X.present (G.instant at.fetched) ]
        }
      , { column = chainDelta, value = X.greatest (G.taken at.requested f.length) (G.taken at.adopted f.chainDelta) }
      , { column = valid
        , value =
            X.all
              [ X.column complete
              , X.present (G.instant at.adopted)
              , notNegative at.slotStart at.noticed
              , notNegative at.noticed at.requested
              , notNegative at.requested at.fetched
              , notNegative at.fetched at.adopted
              , X.equals (X.column chainDelta) (X.asUnit D.block (X.natural 1))
              ]
        }
      ]

let grain =
      S.Grain::{
      , name
      , relation = relations.observations.name
      , key = [ c.block.name, c.host.name ]
      , columns = relations.observations.columns
      , instants = [ at.slotStart, at.noticed, at.requested, at.fetched, at.announced, at.sending, at.adopted ]
      , derived
      , subject = Some { grain = block.name, on = [ G.sameColumn c.block c.block ] }
      , checks =
        [ S.Check::{
          , code = "switched"
          , sql = ../../../queries/cardano/checks/switched.sql as Text
          , uses = [ name, events.forkSwitched.name ]
          , message =
              "{adoptions} of the main chain happened as {hosts} switched to another fork (SwitchedToAFork): no metric counts them"
          , hint = "metrics of peers and propagation leave out these observations"
          , severity = "warning"
          }
        ]
      , time = at.slotStart.name
      , cluster = c.host.name
      , doc = "A block of the main chain, as seen by one of its observers"
      }

in  { grain, name, at, block = c.block, host = c.host, valid, complete }
