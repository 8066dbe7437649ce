let S = ./parts/schema.dhall

let metric = \(m : { id : Text, doc : Text }) -> m // { unit = "s" }

in  [ metric
        { id = "first"
        , dock = "Time spent"
        }
    ]
