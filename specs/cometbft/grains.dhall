-- Grains: a transaction of the load, an experiment, the time range of all; a node, a block that it committed; the time
-- range of rotating nodes.
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
      , time = c.firstSent.name
      , doc = "An experiment of the load tool"
      }

let transaction =
      S.Grain::{
      , name = "transaction"
      , relation = relations.transactions.name
      , key = [ c.experiment.name, c.place.name ]
      , columns = relations.transactions.columns
      , at = c.blockTime.name
      , time = c.blockTime.name
      , dimensions = [ c.connections.name, c.rate.name ]
      , doc = "A transaction of the load that is in a block"
      }

let window =
      S.Grain::{
      , name = "window"
      , relation = relations.windows.name
      , key = [ c.name.name ]
      , columns = relations.windows.columns
      , doc = "The time range of all experiments"
      }

let runTransaction =
      S.Grain::{
      , name = "run_transaction"
      , relation = relations.runTransactions.name
      , key = [ c.name.name, c.place.name ]
      , columns = relations.runTransactions.columns
      , doc = "A transaction of the load that is in a block, over the time range of all experiments"
      }

let nodeBlock =
      S.Grain::{
      , name = "node_block"
      , relation = relations.nodeBlocks.name
      , key = [ c.node.name, c.height.name ]
      , columns = relations.nodeBlocks.columns
      , time = c.committedAt.name
      , cluster = c.node.name
      , dimensions = [ c.node.name, c.inConsensus.name ]
      , doc = "A block that a node committed"
      }

let node =
      S.Grain::{
      , name = "logged_node"
      , relation = relations.nodes.name
      , key = [ c.node.name ]
      , columns = relations.nodes.columns
      , doc = "A node, from its log"
      }

let rotation =
      S.Grain::{
      , name = "rotation_watched"
      , relation = relations.rotation.name
      , key = [ c.name.name ]
      , columns = relations.rotation.columns
      , doc = "The time range of the samples of rotating nodes"
      }

in  { experiment, transaction, window, runTransaction, nodeBlock, node, rotation }
