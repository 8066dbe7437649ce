let S = ./parts/schema.dhall

in  S.Metric::{
    , id = "first"
    , doc = "Time spent"
    , unite = "s"
    , measure = S.elapsed { from = [ S.at.started ], to = S.at.ticked }
    }
