let S = ./parts/schema.dhall

in  S.Number.Naturl
