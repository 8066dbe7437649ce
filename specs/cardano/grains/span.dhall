-- A span of consecutive analysed slots of a host in which its process was busy, or told nothing.
let S = ../../schema/package.dhall

let G = S.grain

let X = S.x

let D = ../units.dhall

let relations = ../relations.dhall

let c = relations.column

let slot = ./slot.dhall

let name = "span"

-- the share of a core from which on a slot counts as busy
let threshold = 85.0

let first = G.column "integer" "first" D.slot "First slot of the span"

let last = G.column "integer" "last" D.slot "Last slot of the span"

let length = G.column "integer" "length" D.slot "Number of slots of the span"

let firstEpochSlot = G.column "integer" "first_epoch_slot" D.slot "Where in its epoch the first slot is"

let lastEpochSlot = G.column "integer" "last_epoch_slot" D.slot "Where in its epoch the last slot is"

in  { grain =
        S.Grain::{
        , name
          -- Compatibility: a slot of which no CPU usage is known counts as busy.
        , runs = Some
          { of = slot.name
          , holds =
              X.any
                [ X.atLeast (X.column c.cpu) (X.quantity threshold S.unit.percent), X.absent (X.column c.cpu) ]
          , by = [ c.host.name ]
          , along = c.slot.name
          , carry = [ c.epochSlot.name ]
          }
        , key = [ c.host.name, first.name ]
        , columns = [ c.host, first, last, length, firstEpochSlot, lastEpochSlot ]
        , time = first.name
        , cluster = c.host.name
        , doc = "Consecutive analysed slots in which the process used 85 % of a core or more, or no value is known"
        }
    , name
    , first
    , last
    , length
    , firstEpochSlot
    , lastEpochSlot
    , host = c.host
    }
