-- A block of the main chain on one of its hosts, with what its steps there lack.
let S = ../../schema/package.dhall

let G = S.grain

let relations = ../relations.dhall

let c = relations.column

let block = ./block.dhall

let observation = ./observation.dhall

let lacking = G.column "integer" "missing" S.unit.count "Steps that lack their beginning or end"

let early = G.column "integer" "negative" S.unit.count "Steps that end before they begin"

let relation =
      S.Relation::{
      , name = "block_steps"
      , sql = ../../../queries/cardano/block_steps.sql as Text
      , uses = [ block.name, observation.name ]
      , columns = [ c.block, c.host, lacking, early ]
      , key = [ "block", "host" ]
      , doc = "How many steps of a block lack records on a host, and how many end before they begin"
      }

in  { relation
    , grain =
        S.Grain::{
        , name = "block_on_host"
        , relation = relation.name
        , key = [ c.block.name, c.host.name ]
        , columns = relation.columns
        , subject = Some { grain = block.name, on = [ G.sameColumn c.block c.block ] }
        , doc = "A block of the main chain on one of its hosts, the forger included"
        }
    , name = "block_on_host"
    , block = c.block
    , lacking
    , early
    }
