-- Points at which published values of a metric stop being comparable.
let S = ../schema/package.dhall

in  { spans =
      [ S.Break::{
        , since = "2024-03-10"
        , doc =
            "From here to the publications of July 2024, the spans are shorter by a factor of 40 or more, for all workloads and all runs, including the baselines. The publications do not explain this."
        }
      , S.Break::{
        , since = "2024-09-20"
        , doc =
            "The spans are as long as before 2024-03 again, for all workloads and all runs. The publications do not explain this."
        }
      ]
    , announcing =
      [ S.Break::{
        , since = "2025-01-30"
        , run = "10.2.0"
        , doc =
            "Before: near zero, sometimes negative. From this run on: about a millisecond, for all workloads. The publications do not explain this."
        }
      ]
    , blockContext =
      [ S.Break::{
        , since = "2025-07-01"
        , run = "10.5.0"
        , doc =
            "From 0.024 s to 0.00007 s with this run, for all workloads: values before and after are not comparable. The publications do not explain this."
        }
      ]
    , sinceSlotStart =
      [ S.Break::{
        , since = "2025-07-01"
        , run = "10.5.0"
        , doc =
            "Measured from the start of the slot, including the block context acquisition: about 0.02 s less than before, nearly the whole decrease of that step. So the time was saved, not moved to another step."
        }
      ]
    }
