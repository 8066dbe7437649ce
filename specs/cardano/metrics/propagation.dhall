-- End-to-end propagation of a block in the cluster: one sample per block.
let S = ../../schema/package.dhall

let M = S.metric

let U = S.unit

let adoption = ../grains/adoption.dhall

let adopted =
      \(share : Double) ->
      \(label : Text) ->
      \(percent : Text) ->
        S.Metric::{
        , id = "cdf${label}"
        , name = "${label} adoption"
        , doc = "Time since slot start to block's adoption by ${percent}% of the cluster."
        , grain = adoption.name
        , measure = adoption.delay
        , reduction = M.centile share [ adoption.block ]
        , unit = U.second
        , better = "lower"
        }

in  { half = adopted 0.5 "0.50" "50"
    , eighty = adopted 0.8 "0.80" "80"
    , ninety = adopted 0.9 "0.90" "90"
    , ninetyTwo = adopted 0.92 "0.92" "92"
    , ninetyFour = adopted 0.94 "0.94" "94"
    , ninetySix = adopted 0.96 "0.96" "96"
    , ninetyEight = adopted 0.98 "0.98" "98"
    , all = adopted 1.0 "1.00" "100"
    }
