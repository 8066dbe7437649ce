-- A host, with what became of its blocks.
let S = ../../schema/package.dhall

let relations = ../relations.dhall

let c = relations.column

let name = "forging_host"

in  { grain =
        S.Grain::{
        , name
        , relation = relations.forgingHosts.name
        , key = [ c.host.name ]
        , columns = relations.forgingHosts.columns
        , doc = "A host, with what became of the blocks that it made"
        }
    , name
    , total = c.total
    , chained = c.chained
    , filtered = c.filtered
    }
