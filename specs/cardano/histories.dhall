-- Reports over what was published.
let S = ../schema/package.dhall

let R = S.report

let contents = ./contents.dhall

let reports = ./reports.dhall

let forging = ./metrics/forging.dhall

let peers = ./metrics/peers.dhall

let machine = ./metrics/machine.dhall

let history =
      S.History::{
      , name = "history"
      , title = "Releases, {first} to {last}"
      , intro =
          "Every metric over {publications} publications from {first} to {last}, a panel a workload ({workloads}). The numbers are those that were printed at the time; nothing is worked out anew. Each publication compares new runs with a base; the base is often the newest run of the publication before, and where its numbers are others it was run or analysed again."
      , of = reports.comparison.name
      , sections = contents.sections2024
      , breaks =
        [ { metrics = R.metricIds [ machine.spanCpu ]
          , since = "2024-03-10"
          , run = ""
          , doc =
              "From here to the publications of July 2024 the spans are shorter by a factor of 40 and more, for all workloads and all runs, the base runs too. The publications do not say why."
          }
        , { metrics = R.metricIds [ machine.spanCpu ]
          , since = "2024-09-20"
          , run = ""
          , doc =
              "The spans are as long again as before 2024-03, for all workloads and all runs. The publications do not say why."
          }
        , { metrics = R.metricIds [ peers.announce ]
          , since = "2025-01-30"
          , run = "10.2.0"
          , doc =
              "Until here next to zero, at times below it; from this run on about a millisecond, for all workloads. The publications do not say why."
          }
        , { metrics = R.metricIds [ forging.blockContext ]
          , since = "2025-07-01"
          , run = "10.5.0"
          , doc =
              "From 0.024 s to 0.00007 s with this run, for all workloads: values before and after cannot be compared. The publications do not say why."
          }
        , { metrics = R.metricIds [ forging.announceCum, peers.noticeFirst, peers.fetchFirst ]
          , since = "2025-07-01"
          , run = "10.5.0"
          , doc =
              "Counted from the start of the slot, the acquisition of the block context included: about 0.02 s less than before, nearly all that it takes less. So the time has gone, and is not told elsewhere."
          }
        ]
      , moves = 24
      , doc = "Each metric over all publications, with the breaks in what was measured"
      }

in  { history }
