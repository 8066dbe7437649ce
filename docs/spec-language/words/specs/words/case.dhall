-- What a word yields: a metric, and its samples. `assay test` compares them.
let S = ../schema/package.dhall

let X = S.x

let source = ./source.dhall

let Case = { metric : S.Metric.Type, samples : List Text }

let case =
      \(word : Text) ->
      \(measure : S.Expression) ->
      \(where : S.Expression) ->
      \(unit : S.Unit) ->
      \(samples : List Text) ->
          { metric = S.Metric::{ id = word, name = word, grain = source.rows.grain.name, measure, where, unit, doc = word }
          , samples
          }
        : Case

in  { Case
      -- the values of an expression on all rows that have one
    , value = \(word : Text) -> \(measure : S.Expression) -> case word measure X.nothing
      -- the value of an expression that is the same on all rows
    , constant =
        \(word : Text) -> \(measure : S.Expression) -> case word measure (X.equals (S.grain.valueOf source.field.n) (X.natural 1))
      -- the numbers of the rows for which a condition holds
    , holds =
        \(word : Text) -> \(where : S.Expression) -> case word (S.grain.valueOf source.field.n) where S.unit.none
    }
