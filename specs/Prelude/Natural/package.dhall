-- Functions of natural numbers.
{ equal = ./equal.dhall
, greaterThan = ./greaterThan.dhall
, greaterThanEqual = ./greaterThanEqual.dhall
, lessThan = ./lessThan.dhall
, lessThanEqual = ./lessThanEqual.dhall
, max = ./max.dhall
, min = ./min.dhall
}
