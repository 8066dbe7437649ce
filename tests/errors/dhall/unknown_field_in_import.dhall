let good = ./parts/good.dhall

in  { good, bad = ./parts/misspelt_inside.dhall }
