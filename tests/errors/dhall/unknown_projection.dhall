let good = ./parts/good.dhall

in  good.{ ticked, startd }
