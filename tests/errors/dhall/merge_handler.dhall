let S = ./parts/schema.dhall

in  merge { Natural = 1, Integer = 2 } S.Number.Natural
