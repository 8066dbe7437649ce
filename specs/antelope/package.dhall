-- Antelope: upgrades of a node, before and after.
let S = ../schema/package.dhall

let e = ./samples.dhall

let s = ./series.dhall

let phases = ./phases.dhall

let upgrade = ./upgrade.dhall

in  S.Package::{
    , system = "antelope"
    , units = e.base
    , sources = [ e.samples ]
    , events =
      [ e.up
      , e.cpu
      , e.memoryTotal
      , e.memoryAvailable
      , e.swapTotal
      , e.swapFree
      , e.written
      , e.head
      , e.irreversible
      , e.clients
      , e.peers
      , e.incoming
      , e.produced
      , e.blockCpu
      , e.blockNet
      ]
    , relations = [ s.windows ]
    , series = s.all
    , grains = [ s.point.cpu, s.point.memory, s.point.swap, s.point.disk ]
    , metrics = upgrade.metrics
    , summaries = [ S.Summary::{ name = "points", doc = "All points of a series count alike" } ]
    , cuts = [ phases.upgrade ]
    , articles = [ upgrade.upgrade ]
    }
