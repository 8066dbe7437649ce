-- Grains: a transaction of the load, an experiment.
let S = ../schema/package.dhall

let relations = ./relations.dhall

let c = relations.column

let experiment =
      S.Grain::{
      , name = "experiment"
      , relation = relations.experiments.name
      , key = [ c.experiment.name ]
      , columns = relations.experiments.columns
      , at = c.firstSent.name
      , doc = "An experiment of the load tool"
      }

let transaction =
      S.Grain::{
      , name = "transaction"
      , relation = relations.transactions.name
      , key = [ c.experiment.name, c.place.name ]
      , columns = relations.transactions.columns
      , at = c.blockTime.name
      , doc = "A transaction of the load, found in a block"
      }

in  { experiment, transaction }
