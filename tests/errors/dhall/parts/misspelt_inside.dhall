let S = ./schema.dhall

in  { first = S.at.started
    , second = S.at.tiked
    }
