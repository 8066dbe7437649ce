-- CometBFT: QA runs of a testnet under load.
let S = ../schema/package.dhall

let source = ./source.dhall

let e = ./events.dhall

let r = ./relations.dhall

let grains = ./grains.dhall

let m = ./metrics.dhall

let s = ./series.dhall

let sampled = ./sampled.dhall

let p = ./published.dhall

in  S.Package::{
    , system = "cometbft"
    , units = (./units.dhall).base
    , sources = [ source.load, source.samples, source.logs, p.source ]
    , events =
      [ e.loaded
      , e.height
      , e.syncedHeight
      , e.totalTxs
      , e.mempool
      , e.peers
      , e.rounds
      , e.resident
      , e.load1
      , e.up
      , e.finalized
      , e.committed
      , e.proposed
      , e.started
      , e.caughtUp
      , e.complained
      , p.reported
      ]
    , relations =
          [ r.experiments, r.windows, r.transactions, r.runTransactions, r.nodeBlocks, r.nodes, r.rotation, p.experiments ]
        # sampled.relations
    , grains = [ grains.experiment, grains.transaction, grains.window, grains.runTransaction, grains.nodeBlock, grains.node, grains.rotation, sampled.grain.node, sampled.grain.machine, p.grain ]
    , series =
      [ s.mempoolSize, s.peers, s.rounds, s.memory, s.nodeMemory, s.cpu, s.heights, s.rotatingHeights, s.blockRate, s.totalTxsRate ]
    , metrics =
          [ m.validTxs
          , m.negative
          , m.expected
          , m.least
          , m.greatest
          , m.average
          , m.deviation
          , m.throughput
          , m.latency
          , m.sinceStart
          , m.runLatency
          , m.sinceBegin
          , m.blocks
          , m.blocksCaughtUp
          , m.nodeTransactions
          , m.proposals
          , m.complaints
          , m.starts
          , m.catchingUp
          , m.intervalAverage
          , m.intervalGreatest
          , m.height
          , m.interval
          , p.txs
          , p.expected
          , p.negative
          , p.least
          , p.greatest
          , p.average
          , p.deviation
          ]
        # S.metrics (toMap sampled.metric)
    , summaries = [ S.Summary::{ name = "experiments", doc = "All experiments have the same weight" } ]
    , reports = [ (./qa.dhall).qa, (./testnets.dhall).testnets, (./audit.dhall).published ]
    , examples = ./examples.dhall
    }
