let first = 1

in  { first, again = ../cycle.dhall }
