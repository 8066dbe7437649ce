let S = ./parts/schema.dhall

let at = S.at

in  S.orElse "x" (S.elapsed { from = [ at.started ], to = at.ticked } : S.Measure)
