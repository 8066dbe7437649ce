-- Contents of the reports on runs: tables, charts and dictionary, in the current and in earlier editions.
let S = ../schema/package.dhall

let R = S.report

let forging = ./metrics/forging.dhall

let peers = ./metrics/peers.dhall

let propagation = ./metrics/propagation.dhall

let anomaly = ./metrics/anomaly.dhall

let machine = ./metrics/machine.dhall

let observation = ./grains/observation.dhall

let resources =
      R.section
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

let resources2023 =
      R.section
        "Resource Usage"
        [ machine.starts
        , machine.cpu
        , machine.gc
        , machine.mut
        , machine.gcsMajor
        , machine.gcsMinor
        , machine.rss
        , machine.live
        , machine.heap
        , machine.alloc
        , machine.spanCpu
        ]

let resources2024 =
      R.section
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
        , machine.fsRd
        , machine.fsWr
        , machine.spanCpu
        ]

let anomalyControl =
      R.section
        "Anomaly control"
        [ anomaly.blocksPerHost, anomaly.filteredRatio, anomaly.chainedRatio, anomaly.battles, anomaly.size ]

let forgingSteps =
      R.section
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

let peerPropagation =
      R.section
        "Individual peer propagation"
        [ peers.noticeFirst
        , peers.fetchFirst
        , peers.request
        , peers.fetch
        , peers.announce
        , peers.send
        , peers.adoption
        ]

let endToEndPropagation =
      R.section
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

let others =
      [ anomalyControl
      , forgingSteps
      , R.withAllOf observation.grain peerPropagation
      , endToEndPropagation
      ]

let runtime =
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
      ]

let states =
      [ R.cdf machine.ledgerState
      , R.cdf machine.ledgerView
      ]

let slots =
      [ R.cdf machine.leading
      , R.cdf machine.density
      , R.cdf machine.blockGap
      , R.cdf machine.spanCpu
      , R.cdf machine.spanCpuEpoch
      ]

let forgingLoop =
      [ R.cdf forging.lead
      , R.cdf forging.ticked
      , R.cdf forging.snapshot
      , R.cdf forging.forge
      , R.cdf forging.announce
      ]

let slotsAndForging = slots # forgingLoop

let announcing = [ R.cdf forging.announceCum ]

let propagating =
      [ R.cdf forging.send
      , R.cdf peers.noticeFirst
      , R.cdf peers.adoption
      , R.cdf propagation.half
      , R.cdf propagation.eighty
      , R.cdf propagation.ninety
      , R.cdf propagation.ninetySix
      ]

-- Sections that need no chain: the metrics of hosts and their slots.
let loop =
      R.section
        "Leadership checks"
        [ machine.started, machine.blockContext, machine.ledgerState, machine.ledgerView, machine.leading ]

let ledger =
      R.section "Slots of hosts" [ machine.hostSlots, machine.leads, machine.blockGap, machine.density, machine.utxo ]

let performanceDictionary =
      [ R.group
          "Cluster performance metrics"
          [ machine.alloc
          , machine.cpu
          , machine.gc
          , machine.mut
          , machine.blkIo
          , machine.fsRd
          , machine.fsWr
          , machine.gcsMajor
          , machine.gcsMinor
          , machine.heap
          , machine.live
          , machine.netRd
          , machine.netWr
          , machine.rss
          , machine.threads
          , machine.blockContext
          , machine.blockGap
          , machine.density
          , machine.hostSlots
          , machine.leading
          , machine.leads
          , machine.ledgerState
          , machine.ledgerView
          , machine.spanCpu
          , machine.spanCpuEpoch
          , machine.started
          , machine.starts
          , machine.utxo
          ]
      ]

let performance =
      { sections =
        [ resources // { metrics = resources.metrics # R.metricIds [ machine.spanCpuEpoch, machine.blkIo, machine.threads ] }
        , loop
        , ledger
        ]
      , charts = runtime # states # slots
      , dictionary = performanceDictionary
      }

let dictionary =
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

in  { sections = [ resources ] # others
    , sections2023 = [ resources2023 ] # others
    , sections2024 = [ resources2024 ] # others
    , charts = runtime # slotsAndForging # announcing # propagating
    , charts2023 = runtime # states # slotsAndForging # propagating
    , tables = [ resources, anomalyControl, forgingSteps, peerPropagation, endToEndPropagation ]
    , dictionary
    , performance
    }
