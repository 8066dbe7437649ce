-- A part of the Prelude of Dhall: names, types and values are those of dhall-lang 23.
{ Bool = ./Bool/package.dhall
, List = ./List/package.dhall
, Map = ./Map/package.dhall
, Natural = ./Natural/package.dhall
, Optional = ./Optional/package.dhall
, Text = ./Text/package.dhall
}
