-- A block of the main chain, adopted by a host.
let S = ../../schema/package.dhall

let G = S.grain

let X = S.x

let relations = ../relations.dhall

let c = relations.column

let block = ./block.dhall

let name = "adoption"

in  { grain =
        S.Grain::{
        , name
        , relation = relations.adoptions.name
        , key = [ c.block.name, c.host.name ]
        , columns = relations.adoptions.columns
        , subject = Some { grain = block.name, on = [ G.sameColumn c.block c.block ] }
        , time = c.slotStart.name
        , cluster = c.host.name
        , doc = "A block of the main chain adopted by a host, including its forger"
        }
    , name
    , block = c.block
    , delay = X.minus (X.column c.adopted) (X.column c.slotStart)
    }
