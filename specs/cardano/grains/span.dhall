-- A span of consecutive analysed slots of a host in which its process was busy, or has no known CPU usage.
let S = ../../schema/package.dhall

let G = S.grain

let X = S.x

let D = ../units.dhall

let relations = ../relations.dhall

let c = relations.column

let slot = ./slot.dhall

let name = "span"

-- The share of a core above which a slot counts as busy.
let threshold = 85.0

let first = G.column "integer" "first" D.slot "First slot of the span"

let last = G.column "integer" "last" D.slot "Last slot of the span"

let length = G.column "integer" "length" D.slot "Number of slots of the span"

let firstEpochSlot = G.column "integer" "first_epoch_slot" D.slot "Position of the first slot in its epoch"

let lastEpochSlot = G.column "integer" "last_epoch_slot" D.slot "Position of the last slot in its epoch"

in  { grain =
        S.Grain::{
        , name
          -- Compatibility: a slot without known CPU usage counts as busy.
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
        , doc = "Consecutive analysed slots with a CPU usage of at least 85 % of a core, or without a known value"
        }
    , name
    , first
    , last
    , length
    , firstEpochSlot
    , lastEpochSlot
    , host = c.host
    }
