-- Phases: parts of a run between instants, and these instants (boundaries).
let X = ./expression.dhall

let S = ./source.dhall

let E = ./event.dhall

-- A named instant of a run: a constant, or the first or last (`pick`) `column` of the table `of` where a condition
-- holds. `--at NAME=TIME` takes precedence over both, and is required without both, unless the instant is `optional`:
-- then a phase that begins at it is left out, and a phase that ends at it extends to the end of the run.
let Cut =
      { Type =
          { name : Text
          , constant : Text
          , of : Text
          , column : Text
          , pick : Text
          , where : X.Expression
          , optional : Bool
          , doc : Text
          }
      , default = { constant = "", of = "", column = "", pick = "", where = X.nothing, optional = False }
      }

-- The time from the instant `since` to just before `until`; an empty name leaves that side open.
--   marginNs   ns that are left out at each of its instants
--   margin     a constant of the run, a duration, instead
let Phase =
      { Type = { name : Text, since : Text, until : Text, marginNs : Natural, margin : Text, doc : Text }
      , default = { since = "", until = "", marginNs = 0, margin = "", doc = "" }
      }

let picked =
      \(pick : Text) -> \(name : Text) -> \(of : E.Event) -> \(doc : Text) ->
        Cut::{ name, of = of.name, column = "t_ns", pick, doc }

in  { Cut
    , Phase
      -- an instant that is a constant of the run
    , constant = \(c : S.Constant.Type) -> Cut::{ name = c.name, constant = c.name, doc = c.doc }
      -- an instant that a run may lack
    , optional = \(c : Cut.Type) -> c // { optional = True }
      -- an instant that only the option `--at` sets
    , option = \(name : Text) -> \(doc : Text) -> Cut::{ name, doc }
      -- the instant of the first, or last, event of a kind
    , firstOf = picked "first"
    , lastOf = picked "last"
      -- a column of a relation: its first value
    , firstIn =
        \(name : Text) -> \(relation : Text) -> \(c : X.Column) -> \(doc : Text) ->
          Cut::{ name, of = relation, column = c.name, pick = "first", doc }
      -- the phases before an instant, between two, and after one
    , before = \(name : Text) -> \(c : Cut.Type) -> Phase::{ name, until = c.name }
    , between = \(name : Text) -> \(c : Cut.Type) -> \(d : Cut.Type) -> Phase::{ name, since = c.name, until = d.name }
    , after = \(name : Text) -> \(c : Cut.Type) -> Phase::{ name, since = c.name }
    }
