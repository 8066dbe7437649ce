-- Cardano: benchmark runs of node clusters, in the layout of the workbench.
let S = ../schema/package.dhall

let source = ./source.dhall

let e = ./events.dhall

let r = ./relations.dhall

let series = ./series.dhall

let host = ./grains/host.dhall

let f = ./filters.dhall

let s = ./summaries.dhall

let forging = ./metrics/forging.dhall

let peers = ./metrics/peers.dhall

let propagation = ./metrics/propagation.dhall

let anomaly = ./metrics/anomaly.dhall

let machine = ./metrics/machine.dhall

let steps = ./metrics/steps.dhall

let activity = ./metrics/activity.dhall

in  S.Package::{
    , system = "cardano"
    , units = (./units.dhall).base
    , sources = [ source.logs ]
    , events =
      [ e.resources
      , e.leadershipCheckStarted
      , e.blockContext
      , e.ledgerState
      , e.ledgerView
      , e.leadershipDecided
      , e.ledgerTicked
      , e.mempoolSnapshot
      , e.blockForged
      , e.headerSeen
      , e.fetchRequested
      , e.fetchCompleted
      , e.headerAnnounced
      , e.blockSent
      , e.blockAdopted
      , e.forkSwitched
      , e.ledgerSnapshot
      , e.ledgerMetrics
      , e.txsAcked
      , e.txsCollected
      , e.txsProcessed
      , e.mempoolSize
      , e.txRejected
      , e.generatorSummary
      , e.recordsLimited
      ]
    , relations =
      [ r.roles
      , r.blocks
      , r.chain
      , r.observations
      , r.adoptions
      , r.forgingHosts
      , r.openings
      , r.slotMarks
      , r.timeline
      , r.blockGaps
      , r.resourceUsage
      , r.slots
      , host.relation
      , (./grains/block_steps.dhall).relation
      , (./grains/host_slot.dhall).relation
      , (./grains/snapshot.dhall).relation
      , r.logSummary
      , r.runSummary
      , r.clocks
      , series.runTime
      ]
    , grains =
      [ (./grains/block.dhall).grain
      , (./grains/observation.dhall).grain
      , (./grains/adoption.dhall).grain
      , (./grains/block_steps.dhall).grain
      , (./grains/forging_host.dhall).grain
      , (./grains/slot.dhall).grain
      , (./grains/span.dhall).grain
      , host.grain
      , (./grains/host_slot.dhall).grain
      , (./grains/snapshot.dhall).grain
      ]
    , metrics =
          S.metrics (toMap forging)
        # S.metrics (toMap peers)
        # S.metrics (toMap propagation)
        # S.metrics (toMap anomaly)
        # S.metrics (toMap steps)
        # S.metrics (toMap machine)
        # S.metrics (toMap activity)
    , filters =
      [ f.unitary
      , f.nonnegative
      , f.minAdoptions
      , f.sizeGeq
      , f.sizeLeq
      , f.fullnessAbove
      , f.fullnessBelow
      , f.slotGeq
      , f.slotLeq
      , f.epochGeq
      , f.epochLeq
      , f.epochSlotGeq
      , f.epochSlotLeq
      , f.safeIntervalGeq
      , f.safeIntervalLeq
      , f.slotHasLeaders
      ]
    , summaries = [ s.published, s.meanOfHosts ]
    , reports =
      [ (./reports.dhall).comparison
      , (./reports.dhall).performance
      , (./activity.dhall).report
      , (./activity.dhall).timelines
      , ./workloads.dhall
      , (./histories.dhall).history
      ]
    , series = [ series.accepted, series.mempool, series.headers ]
    , examples = ./examples.dhall
    , coverage = ./coverage.dhall
    , filterFiles = [ (./filter_files.dhall).chainFilters ]
    }
