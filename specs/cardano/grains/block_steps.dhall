-- A block of the main chain on one of its hosts, with the number of incomplete steps there.
let S = ../../schema/package.dhall

let G = S.grain

let relations = ../relations.dhall

let c = relations.column

let block = ./block.dhall

let observation = ./observation.dhall

let incomplete = G.column "integer" "missing" S.unit.count "Steps without a record of their start or end"

let early = G.column "integer" "negative" S.unit.count "Steps that end before they start"

let relation =
      S.Relation::{
      , name = "block_steps"
      , sql = ../../../queries/cardano/block_steps.sql as Text
      , uses = [ block.name, observation.name ]
      , columns = [ c.block, c.host, incomplete, early ]
      , key = [ "block", "host" ]
      , doc = "Number of steps of a block with missing records on a host, and of steps that end before they start"
      }

in  { relation
    , grain =
        S.Grain::{
        , name = "block_on_host"
        , relation = relation.name
        , key = [ c.block.name, c.host.name ]
        , columns = relation.columns
        , subject = Some { grain = block.name, on = [ G.sameColumn c.block c.block ] }
        , doc = "A block of the main chain on one of its hosts, including the forger"
        }
    , name = "block_on_host"
    , block = c.block
    , incomplete
    , early
    }
