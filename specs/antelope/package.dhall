-- Antelope (EOS): node upgrades, runs of the performance harness, virtual machines.
let S = ../schema/package.dhall

let harness =
      { source = ./harness/source.dhall
      , e = ./harness/events.dhall
      , r = ./harness/relations.dhall
      , grains = ./harness/grains.dhall
      , m = ./harness/metrics.dhall
      }

let e = ./samples.dhall

let s = ./series.dhall

let phases = ./phases.dhall

let upgrade = ./upgrade.dhall

let endurance = ./endurance.dhall

let rrd = ./rrd/package.dhall

in  S.Package::{
    , system = "antelope"
    , units = (./units.dhall).base
    , sources = [ harness.source.nodes, harness.source.generators, rrd.source, e.samples ]
    , events =
      [ harness.e.block
      , harness.e.dropped
      , harness.e.forked
      , harness.e.sent
      , rrd.machine
      , e.up
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
      , rrd.machines
      , s.windows
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
      , rrd.sized
      , endurance.drive
      , s.point.cpu
      , s.point.memory
      , s.point.swap
      , s.point.disk
      , s.point.clients
      , s.point.peers
      , s.point.incoming
      , s.point.produced
      ]
    , metrics = harness.m.all # rrd.metrics # endurance.metrics # upgrade.metrics
    , series = s.all # [ endurance.rates ]
    , summaries = [ S.Summary::{ name = "runs", doc = "All rows have the same weight" } ]
    , cuts = [ phases.upgrade, phases.secondStart ]
    , reports = [ (./reports.dhall).harness, endurance.report, upgrade.upgrade ]
    , examples = ./harness/examples.dhall # ./rrd/examples.dhall # ./examples.dhall
    }
