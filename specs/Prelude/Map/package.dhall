-- Types and functions of maps, which are lists of entries.
{ Entry = ./Entry.dhall
, Type = ./Type.dhall
, keyText = ./keyText.dhall
, keys = ./keys.dhall
, map = ./map.dhall
, values = ./values.dhall
}
