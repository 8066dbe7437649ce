-- Metrics, summaries, filters.
let U = ./units.dhall

let X = ./expression.dhall

let G = ./grain.dhall

let Expression = X.Expression

-- Samples are reduced to one for each distinct `by`: min, max, sum, count, centile.
let Reduction = { by : List Text, kind : Text, centile : Double }

-- One metric.
--   measure    what is measured on each row of the grain; no value, no sample
--   where      which rows count (all, when nothing)
--   accepted   whether filters apply
--   per        empty: all samples form one distribution; else each value of this column (the host) has one of its
--              own, and the metric is summarised over them
--   better     lower, higher or neither
--   width      digits of its value in published tables and charts
let Metric =
      { Type =
          { id : Text
          , name : Text
          , doc : Text
          , grain : Text
          , measure : Expression
          , where : Expression
          , accepted : Bool
          , reduction : Optional Reduction
          , per : Text
          , unit : U.Unit
          , better : Text
          , width : Natural
          }
      , default =
        { where = X.nothing
        , accepted = True
        , reduction = None Reduction
        , per = ""
        , better = "neither"
        , width = 4
        }
      }

-- How averages of metrics with one distribution a host are taken over hosts. `lowest` above 0 keeps only that many
-- hosts, those of the lowest means. `deviation` is that of the hosts' standard deviations which is shown: greatest, mean.
let Summary =
      { Type = { name : Text, lowest : Natural, deviation : Text, reciprocalPoints : Bool, doc : Text }
      , default = { lowest = 0, deviation = "greatest", reciprocalPoints = False }
      }

let Parameter = { name : Text, type : Text, unit : U.Unit }

-- What a filter demands of the rows of one grain.
let Condition = { grain : Text, holds : Expression }

let Filter =
      { Type = { name : Text, parameter : Optional Parameter, conditions : List Condition, doc : Text }
      , default.parameter = None Parameter
      }

let columnNames =
      \(cs : List X.Column) ->
        List/fold
          X.Column
          cs
          (List Text)
          (\(c : X.Column) -> \(rest : List Text) -> [ c.name ] # rest)
          ([] : List Text)

let reduce =
      \(kind : Text) -> \(by : List X.Column) -> Some { by = columnNames by, kind, centile = 0.0 } : Optional Reduction

in  { Reduction
    , Metric
    , Summary
    , Parameter
    , Condition
    , Filter
    , least = reduce "min"
    , greatest = reduce "max"
    , sum = reduce "sum"
    , number = reduce "count"
    , centile =
        \(c : Double) -> \(by : List X.Column) -> Some { by = columnNames by, kind = "centile", centile = c } : Optional Reduction
    , parameter = \(p : Parameter) -> X.leaf "parameter" p.name
    , columnNames
    }
