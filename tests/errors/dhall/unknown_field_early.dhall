let S = ./parts/schema.dhall

in  S.att.ticked.name
