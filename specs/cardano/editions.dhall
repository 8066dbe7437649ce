-- The editions of the published comparison, each valid from a day on. Each is an edit of the previous one.
let S = ../schema/package.dhall

let R = S.report

let contents = ./contents.dhall

let manifest = ./manifest.dhall

let anomaly = ./metrics/anomaly.dhall

let machine = ./metrics/machine.dhall

let formerLabels =
      [ R.inUnit machine.starts "#"
      , R.inUnit machine.gcsMajor "#"
      , R.inUnit machine.gcsMinor "#"
      , R.inUnit machine.rss "MB"
      , R.inUnit machine.heap "MB"
      , R.inUnit machine.live "MB"
      , R.inUnit machine.alloc "MB/s"
      , R.inUnit machine.fsRd "KB/s"
      , R.inUnit machine.fsWr "KB/s"
      , R.inUnit machine.netRd "KB/s"
      , R.inUnit machine.netWr "KB/s"
      , R.labelled anomaly.filteredRatio "Filtered to chained block ratio" "/"
      , R.labelled anomaly.chainedRatio "Chained to forged block ratio" "/"
      , R.inUnit machine.density "/"
      , R.inUnit anomaly.size "B"
      ]

let first =
      S.Edition::{
      , name = "2023-12"
      , since = "2023-12-01"
      , style = "org-2023"
      , manifest = manifest.since2023
      , sections = contents.sections2023
      , charts = contents.charts2023
      , dictionary = contents.dictionary
      , labels = formerLabels
      , doc = "Without filesystem rows"
      }

let filesystem =
          first
      //  { name = "2024-03"
          , since = "2024-03-01"
          , sections = contents.sections2024
          , doc = "Filesystem reads and writes; the heap before the live dataset"
          }

let dreps =
          filesystem
      //  { name = "2024-09"
          , since = "2024-09-01"
          , manifest = manifest.since2024
          , doc = "The number of DReps"
          }

let shorter =
          dreps
      //  { name = "2025-01"
          , since = "2025-01-30"
          , manifest = manifest.since2025
          , doc = "Without the log's text lines and the spreads of its analysis"
          }

let stuffed =
          shorter
      //  { name = "2025-02"
          , since = "2025-02-01"
          , manifest = manifest.sinceFebruary2025
          , doc = "The UTxO set is called stuffed"
          }

let typst =
          stuffed
      //  { name = "2026-02"
          , since = "2026-02-01"
          , style = "typst-2026"
          , charts = contents.charts
          , labels = [ R.inUnit machine.starts "units" ]
          , doc = "Binary prefixes, other unit symbols, no sample counts; the charts of the ledger state and view make room"
          }

in  [ first, filesystem, dreps, shorter, stuffed, typst ]
