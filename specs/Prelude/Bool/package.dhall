-- Functions of Bool.
{ and = ./and.dhall
, not = ./not.dhall
, or = ./or.dhall
}
