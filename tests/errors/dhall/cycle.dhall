let second = ./parts/cycle_b.dhall

in  { second }
