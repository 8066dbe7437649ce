-- Functions of texts.
{ concat = ./concat.dhall
, concatMapSep = ./concatMapSep.dhall
, concatSep = ./concatSep.dhall
}
