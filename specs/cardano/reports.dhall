-- The reports of this system.
let S = ../schema/package.dhall

let R = S.report

let B = S.block

let c = (./source.dhall).constant

let filters = ./filters.dhall

let summaries = ./summaries.dhall

let forging = ./metrics/forging.dhall

let propagation = ./metrics/propagation.dhall

let machine = ./metrics/machine.dhall

let contents = ./contents.dhall

let listings = ./listings.dhall

let steps = ./metrics/steps.dhall

let comparison =
      S.Report::{
      , name = "comparison"
      , title = "{others} against {base}"
      , intro =
          "We compare {others} relative to {base}. Every table shows one value per run, then the difference of each further run to {base}, absolute and in percent."
      , manifest = (./manifest.dhall).current
      , sections = contents.sections
      , charts = contents.charts
      , dictionary = contents.dictionary # [ R.group "Blocks" [ steps.incomplete, steps.early ] ]
      , parts =
        [ B.part "Analysed blocks" (B.listings [ listings.analysed ])
        , B.part "Rejected blocks" (B.listings [ listings.rejected ])
        ]
      , also = R.metricIds [ machine.spanCpuReward, machine.blkIo, machine.threads, machine.leads, machine.utxo, machine.hostSlots ]
      , summary = summaries.published.name
      , filters = [ R.uses filters.unitary ]
      , label = c.ident.name
      , compare = [ c.era.name, c.tps.name, c.addTxSize.name, c.inputsPerTx.name, c.outputsPerTx.name, c.plutusScript.name ]
      , judgement = Some S.Judgement::{ gate = R.metricIds [ machine.cpu, forging.announceCum, propagation.eighty ] }
      , observations = Some ./observations.dhall
      , editions = ./editions.dhall
      , doc = "Comparison of two or more runs of a cluster; the first is the baseline"
      }

-- Needs no chain, so it also builds on runs whose logs have no events of blocks.
let performance =
      S.Report::{
      , name = "performance"
      , title = "Performance of {others} against {base}"
      , intro =
          "We compare the resource usage and slots of the hosts of {others} with those of {base}. No number needs the main chain."
      , manifest = (./manifest.dhall).performance
      , sections = contents.performance.sections
      , charts = contents.performance.charts
      , dictionary = contents.performance.dictionary
      , summary = summaries.meanOfHosts.name
      , label = c.ident.name
      , compare = comparison.compare
      , judgement = Some S.Judgement::{ gate = R.metricIds [ machine.cpu, machine.rss ] }
      , doc = "Resource usage and slots of hosts in one or more runs, also in runs without a chain"
      }

in  { comparison, performance }
