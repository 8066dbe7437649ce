-- A host, with the numbers of its forged, chained and filtered blocks.
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
        , doc = "A host, with the numbers of its forged, chained and filtered blocks"
        }
    , name
    , total = c.total
    , chained = c.chained
    , filtered = c.filtered
    }
