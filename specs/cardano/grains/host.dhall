-- A host, with the range of its analysed slots.
let S = ../../schema/package.dhall

let G = S.grain

let D = ../units.dhall

let relations = ../relations.dhall

let c = relations.column

let slot = ./slot.dhall

let first = G.column "integer" "first_slot" D.slot "First analysed slot"

let last = G.column "integer" "last_slot" D.slot "Last analysed slot"

let relation =
      S.Relation::{
      , name = "slot_extents"
      , sql = ../../../queries/cardano/slot_extents.sql as Text
      , uses = [ slot.name ]
      , columns = [ c.host, first, last ]
      , key = [ "host" ]
      , doc = "First and last analysed slot of each host"
      }

in  { relation
    , grain =
        S.Grain::{
        , name = "host"
        , relation = relation.name
        , key = [ c.host.name ]
        , columns = relation.columns
        , doc = "A host, with the range of its analysed slots"
        }
    , name = "host"
    , first
    , last
    , host = c.host
    }
