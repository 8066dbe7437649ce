let good = ./parts/good.dhall

in  good.zzz
