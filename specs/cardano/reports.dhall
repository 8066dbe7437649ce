-- The reports of this system.
let S = ../schema/package.dhall

let R = S.report

let constant = (./source.dhall).constant

let filters = ./filters.dhall

let summaries = ./summaries.dhall

let forging = ./metrics/forging.dhall

let peers = ./metrics/peers.dhall

let propagation = ./metrics/propagation.dhall

let anomaly = ./metrics/anomaly.dhall

let machine = ./metrics/machine.dhall

let comparison =
      S.Report::{
      , name = "comparison"
      , title = "{others} against {base}"
      , intro =
          "We compare {others} relative to {base}. Every table shows one value a run, then for each further run its difference to {base}, as it is and in percent."
      , manifest = ./manifest.dhall
      , sections =
        [ R.section
            "Resource Usage"
            [ machine.starts
            , machine.cpu
            , machine.gc
            , machine.mut
            , machine.gcsMajor
            , machine.gcsMinor
            , machine.rss
            , machine.heap
            , machine.live
            , machine.alloc
            , machine.netRd
            , machine.netWr
            , machine.fsRd
            , machine.fsWr
            , machine.spanCpu
            ]
        , R.section
            "Anomaly control"
            [ anomaly.blocksPerHost, anomaly.filteredRatio, anomaly.chainedRatio, anomaly.battles, anomaly.size ]
        , R.section
            "Forging"
            [ forging.start
            , forging.blockContext
            , forging.ledgerState
            , forging.ledgerView
            , forging.lead
            , forging.ticked
            , forging.snapshot
            , forging.forge
            , forging.announce
            , forging.send
            , forging.adoption
            , forging.announceCum
            ]
        , R.section
            "Individual peer propagation"
            [ peers.noticeFirst
            , peers.fetchFirst
            , peers.request
            , peers.fetch
            , peers.announce
            , peers.send
            , peers.adoption
            ]
        , R.section
            "End-to-end propagation"
            [ propagation.half
            , propagation.eighty
            , propagation.ninety
            , propagation.ninetyTwo
            , propagation.ninetyFour
            , propagation.ninetySix
            , propagation.ninetyEight
            , propagation.all
            ]
        ]
      , charts =
        [ R.cdf machine.cpu
        , R.cdf machine.gc
        , R.cdf machine.mut
        , R.cdf machine.alloc
        , R.cdf machine.gcsMajor
        , R.cdf machine.gcsMinor
        , R.cdf machine.heap
        , R.cdf machine.live
        , R.cdf machine.rss
        , R.cdf machine.started
        , R.cdf machine.blockContext
        , R.cdf machine.leading
        , R.cdf machine.density
        , R.cdf machine.blockGap
        , R.cdf machine.spanCpu
        , R.cdf machine.spanCpuEpoch
        , R.cdf forging.lead
        , R.cdf forging.ticked
        , R.cdf forging.snapshot
        , R.cdf forging.forge
        , R.cdf forging.announce
        , R.cdf forging.announceCum
        , R.cdf forging.send
        , R.cdf peers.noticeFirst
        , R.cdf peers.adoption
        , R.cdf propagation.half
        , R.cdf propagation.eighty
        , R.cdf propagation.ninety
        , R.cdf propagation.ninetySix
        ]
      , dictionary =
        [ R.group
            "Block propagation metrics"
            [ propagation.half
            , propagation.eighty
            , propagation.ninety
            , propagation.ninetyTwo
            , propagation.ninetyFour
            , propagation.ninetySix
            , propagation.ninetyEight
            , propagation.all
            , anomaly.battles
            , anomaly.size
            , anomaly.chainedRatio
            , anomaly.filteredRatio
            , anomaly.blocksPerHost
            , forging.adoption
            , forging.announce
            , forging.announceCum
            , forging.blockContext
            , forging.forge
            , forging.lead
            , forging.ledgerState
            , forging.ledgerView
            , forging.snapshot
            , forging.send
            , forging.start
            , forging.ticked
            , peers.adoption
            , peers.announce
            , peers.fetch
            , peers.fetchFirst
            , peers.noticeFirst
            , peers.request
            , peers.send
            ]
        , R.group
            "Cluster performance metrics"
            [ machine.alloc
            , machine.cpu
            , machine.gc
            , machine.mut
            , machine.fsRd
            , machine.fsWr
            , machine.gcsMajor
            , machine.gcsMinor
            , machine.heap
            , machine.live
            , machine.netRd
            , machine.netWr
            , machine.rss
            , machine.blockContext
            , machine.blockGap
            , machine.density
            , machine.leading
            , machine.ledgerState
            , machine.ledgerView
            , machine.spanCpu
            , machine.spanCpuEpoch
            , machine.started
            , machine.starts
            ]
        ]
      , also = R.metricIds [ machine.spanCpuReward, machine.blkIo, machine.threads, machine.leads, machine.utxo, machine.hostSlots ]
      , style = "typst-2026"
      , summary = summaries.published.name
      , filters = [ R.uses filters.unitary ]
      , label = constant.ident.name
      , compare = [ constant.era.name ]
      , doc = "Two or more runs of a cluster, the first of which is the baseline"
      }

in  { comparison }
