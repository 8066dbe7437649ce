-- Contents of the reports on runs: tables, charts and dictionary, in the current and in earlier editions.
let S = ../schema/package.dhall

let R = S.report

let List/map = ../Prelude/List/map.dhall

let f = ./metrics/forging.dhall

let p = ./metrics/peers.dhall

let e = ./metrics/propagation.dhall

let a = ./metrics/anomaly.dhall

let m = ./metrics/machine.dhall

let observation = (./grains/observation.dhall).grain

let cdfs = List/map S.Metric.Type R.Chart R.cdf

-- Charts before 2026: values over shares, those of durations on a logarithmic axis.
let shares = List/map S.Metric.Type R.Chart (\(metric : S.Metric.Type) -> R.linear (R.percentiles metric))

let logShares = List/map S.Metric.Type R.Chart (\(metric : S.Metric.Type) -> R.logarithmic (R.percentiles metric))

let resourcesOf =
      \(memory : List S.Metric.Type) ->
        R.section
          "Resource Usage"
          ([ m.starts, m.cpu, m.gc, m.mut, m.gcsMajor, m.gcsMinor, m.rss ] # memory # [ m.spanCpu ])

let resources = resourcesOf [ m.heap, m.live, m.alloc, m.netRd, m.netWr, m.fsRd, m.fsWr ]

let anomalyControl =
      R.section "Anomaly control" [ a.blocksPerHost, a.filteredRatio, a.chainedRatio, a.battles, a.size ]

let forgingSteps =
      R.section
        "Forging"
        [ f.start, f.blockContext, f.ledgerState, f.ledgerView, f.lead, f.ticked
        , f.snapshot, f.forge, f.announce, f.send, f.adoption, f.announceCum
        ]

let peerPropagation =
      R.section
        "Individual peer propagation"
        [ p.noticeFirst, p.fetchFirst, p.request, p.fetch, p.announce, p.send, p.adoption ]

let ends = [ e.half, e.eighty, e.ninety, e.ninetyTwo, e.ninetyFour, e.ninetySix, e.ninetyEight, e.all ]

let endToEndPropagation = R.section "End-to-end propagation" ends

let others = [ anomalyControl, forgingSteps, R.withAllOf observation peerPropagation, endToEndPropagation ]

let machine = [ m.cpu, m.gc, m.mut, m.alloc, m.gcsMajor, m.gcsMinor, m.heap, m.live, m.rss ]

let started = [ m.started, m.blockContext ]

let states = [ m.ledgerState, m.ledgerView ]

let slots = [ m.density, m.blockGap, m.spanCpu, m.spanCpuEpoch ]

let forging = [ f.lead, f.ticked, f.snapshot, f.forge, f.announce ]

let propagating = [ f.send, p.noticeFirst, p.adoption, e.half, e.eighty, e.ninety, e.ninetySix ]

-- The report without a chain: the metrics of hosts and their slots.
let performance =
      { sections =
        [ resources // { metrics = resources.metrics # R.metricIds [ m.spanCpuEpoch, m.blkIo, m.threads ] }
        , R.section "Leadership checks" [ m.started, m.blockContext, m.ledgerState, m.ledgerView, m.leading ]
        , R.section "Slots of hosts" [ m.hostSlots, m.leads, m.blockGap, m.density, m.utxo ]
        ]
      , charts = cdfs (machine # started # states # [ m.leading ] # slots)
      , dictionary =
        [ R.group
            "Cluster performance metrics"
            [ m.alloc, m.cpu, m.gc, m.mut, m.blkIo, m.fsRd, m.fsWr, m.gcsMajor, m.gcsMinor, m.heap
            , m.live, m.netRd, m.netWr, m.rss, m.threads, m.blockContext, m.blockGap, m.density, m.hostSlots
            , m.leading, m.leads, m.ledgerState, m.ledgerView, m.spanCpu, m.spanCpuEpoch, m.started, m.starts, m.utxo
            ]
        ]
      }

let dictionary =
      [ R.group
          "Block propagation metrics"
          (   ends
            # [ a.battles, a.size, a.chainedRatio, a.filteredRatio, a.blocksPerHost, f.adoption, f.announce
              , f.announceCum, f.blockContext, f.forge, f.lead, f.ledgerState, f.ledgerView, f.snapshot, f.send
              , f.start, f.ticked, p.adoption, p.announce, p.fetch, p.fetchFirst, p.noticeFirst, p.request, p.send
              ]
          )
      , R.group
          "Cluster performance metrics"
          [ m.alloc, m.cpu, m.gc, m.mut, m.fsRd, m.fsWr, m.gcsMajor, m.gcsMinor, m.heap, m.live, m.netRd, m.netWr
          , m.rss, m.blockContext, m.blockGap, m.density, m.leading, m.ledgerState, m.ledgerView, m.spanCpu
          , m.spanCpuEpoch, m.started, m.starts
          ]
      ]

in  { sections = [ resources ] # others
    , sections2023 = [ resourcesOf [ m.live, m.heap, m.alloc ] ] # others
    , sections2024 = [ resourcesOf [ m.heap, m.live, m.alloc, m.fsRd, m.fsWr ] ] # others
    , charts = cdfs (machine # started # [ m.leading ] # slots # forging # [ f.announceCum ] # propagating)
    , charts2023 =
        shares machine # logShares (started # states # [ m.leading ]) # shares slots # logShares (forging # propagating)
    , tables = [ resources, anomalyControl, forgingSteps, peerPropagation, endToEndPropagation ]
    , dictionary
    , performance
    }
