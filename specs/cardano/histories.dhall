-- Reports over publications.
let S = ../schema/package.dhall

let B = S.block

let contents = ./contents.dhall

let reports = ./reports.dhall

let history =
      S.History::{
      , name = "history"
      , title = "Releases, {first} to {last}"
      , intro =
          "Every metric over {publications} publications from {first} to {last}, with a panel per workload ({workloads}). The numbers are those of the publications; nothing is recomputed. Each publication compares new runs with a baseline, often the newest run of the previous publication. If its numbers differ, it was run or analysed again."
      , over = Some S.Publications::{
        , of = reports.comparison.name
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
        }
      , parts = [ B.levelShifts, B.largestMoves 24 ] # B.trends contents.sections2024
      , doc = "Each metric over all publications, with breaks in its definition or measurement"
      }

in  { history }
