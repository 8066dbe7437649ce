let S = ./parts/schema.dhall

let take = \(m : { measures : List S.Measure, measure : S.Measure }) -> m

in  take { measures = 3, measure = "long" }
