-- Reports over publications.
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
          "Every metric over {publications} publications from {first} to {last}, with a panel per workload ({workloads}). The numbers are those of the publications; nothing is recomputed. Each publication compares new runs with a baseline, often the newest run of the previous publication. If its numbers differ, it was run or analysed again."
      , of = reports.comparison.name
      , sections = contents.sections2024
      , breaks =
        [ { metrics = R.metricIds [ machine.spanCpu ]
          , since = "2024-03-10"
          , run = ""
          , doc =
              "From here to the publications of July 2024, the spans are shorter by a factor of 40 or more, for all workloads and all runs, including the baselines. The publications do not explain this."
          }
        , { metrics = R.metricIds [ machine.spanCpu ]
          , since = "2024-09-20"
          , run = ""
          , doc =
              "The spans are as long as before 2024-03 again, for all workloads and all runs. The publications do not explain this."
          }
        , { metrics = R.metricIds [ peers.announce ]
          , since = "2025-01-30"
          , run = "10.2.0"
          , doc =
              "Before: near zero, sometimes negative. From this run on: about a millisecond, for all workloads. The publications do not explain this."
          }
        , { metrics = R.metricIds [ forging.blockContext ]
          , since = "2025-07-01"
          , run = "10.5.0"
          , doc =
              "From 0.024 s to 0.00007 s with this run, for all workloads: values before and after are not comparable. The publications do not explain this."
          }
        , { metrics = R.metricIds [ forging.announceCum, peers.noticeFirst, peers.fetchFirst ]
          , since = "2025-07-01"
          , run = "10.5.0"
          , doc =
              "Measured from the start of the slot, including the block context acquisition: about 0.02 s less than before, nearly the whole decrease of that step. So the time was saved, not moved to another step."
          }
        ]
      , experiments =
        [ { series = "memory budget"
          , runs = [ "loop-memx1", "loop-memx1.5", "loop-memx2" ]
          , doc = "The memory budget of a transaction is once, 1.5 times and twice that of mainnet."
          }
        , { series = "voting"
          , runs = [ "value+utxo", "value+voting" ]
          , doc = "Votes are cast beside the transactions; the baseline has the same UTxO set without them."
          }
        ]
      , moves = 24
      , doc = "Each metric over all publications, with breaks in its definition or measurement"
      }

in  { history }
