-- CometBFT: QA runs of a testnet under load.
let S = ../schema/package.dhall

let source = ./source.dhall

let e = ./events.dhall

let r = ./relations.dhall

let grains = ./grains.dhall

let m = ./metrics.dhall

let s = ./series.dhall

in  S.Package::{
    , system = "cometbft"
    , units = (./units.dhall).base
    , sources = [ source.load, source.samples ]
    , events =
      [ e.loaded, e.height, e.syncedHeight, e.totalTxs, e.mempool, e.peers, e.rounds, e.resident, e.load1, e.up ]
    , relations = [ r.experiments, r.windows, r.transactions ]
    , grains = [ grains.experiment, grains.transaction ]
    , series =
      [ s.mempoolSize, s.peers, s.rounds, s.memory, s.cpu, s.heights, s.blockRate, s.totalTxsRate ]
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
      ]
    , summaries = [ S.Summary::{ name = "experiments", doc = "All experiments count alike" } ]
    , articles = [ (./articles.dhall).qa ]
    , examples = ./examples.dhall
    }
