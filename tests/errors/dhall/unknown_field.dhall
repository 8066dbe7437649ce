let S = ./parts/schema.dhall

in  S.elapsed { from = [ S.at.started ], to = S.at.tiked }
