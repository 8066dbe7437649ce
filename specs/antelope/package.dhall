-- Antelope (EOS): node upgrades, and runs of the performance harness.
let S = ../schema/package.dhall

let harness =
      { source = ./harness/source.dhall
      , e = ./harness/events.dhall
      , r = ./harness/relations.dhall
      , grains = ./harness/grains.dhall
      , m = ./harness/metrics.dhall
      }

let endurance = ./endurance.dhall

let rrd = ./rrd/package.dhall

in  S.Package::{
    , system = "antelope"
    , units = (./units.dhall).base
    , sources = [ harness.source.nodes, harness.source.generators, rrd.source, endurance.samples ]
    , events = [ harness.e.block, harness.e.dropped, harness.e.forked, harness.e.sent, rrd.machine, endurance.written ]
    , relations =
      [ harness.r.observer
      , harness.r.blocks
      , harness.r.phases
      , harness.r.guide
      , harness.r.windowBlocks
      , harness.r.pairs
      , harness.r.tps
      , harness.r.blockStatistics
      , harness.r.productionWindows
      , harness.r.nodes
      , harness.r.verdict
      , harness.r.transactions
      , harness.r.transactionStatistics
      , rrd.readings
      , endurance.windows
      , endurance.drives
      ]
    , grains =
      [ harness.grains.pair
      , harness.grains.windowBlock
      , harness.grains.run
      , harness.grains.tps
      , harness.grains.blockStatistics
      , harness.grains.productionWindows
      , harness.grains.node
      , harness.grains.verdict
      , harness.grains.transactions
      , rrd.reading
      , endurance.drive
      ]
    , metrics = harness.m.all # rrd.metrics # endurance.metrics
    , series = [ endurance.rates ]
    , summaries = [ S.Summary::{ name = "runs", doc = "All rows count alike" } ]
    , articles = [ (./articles.dhall).harness, endurance.article ]
    }
