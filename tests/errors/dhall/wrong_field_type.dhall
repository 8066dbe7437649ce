let S = ./parts/schema.dhall

let metric = \(m : { id : Text, measure : S.Measure }) -> m

in  metric
      { id = "first"
      , measure =
        { from = [ S.at.started ]
        , to = { name = "ticked", after = "1" }
        , otherwise = 0.0
        }
      }
