-- Functions of Optional.
{ default = ./default.dhall
, fold = ./fold.dhall
, map = ./map.dhall
, null = ./null.dhall
}
