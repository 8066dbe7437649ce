-- Metrics, summaries, filters.
let U = ./units.dhall

let X = ./expression.dhall

let G = ./grain.dhall

let S = ./source.dhall

let Expression = X.Expression

-- Samples are reduced to one for each distinct `by`: min, max, sum, count, centile, histogram, exponentialHistogram. For these, samples
-- are upper bounds of buckets, and the column `counts` has how many values are at most each: the centile of these values.
let Reduction = { by : List Text, kind : Text, centile : Double, counts : Text }

-- A value of a metric (or of a constant of the run) in an example: a decimal number, in a unit.
let Input = { metric : Text, value : Text, unit : U.Unit }

-- An example of a formula: the printed value (`shows`) for the values `inputs`, in a unit, rounded to its decimals.
let Example = { inputs : List Input, shows : Text, unit : U.Unit, doc : Text }

-- How small a change is too little to matter: up to the greater of a percentage of the baseline and an amount (decimal
-- texts, empty for none).
let Margin = { percent : Text, amount : Text, unit : U.Unit }

-- A break: values before and after it are not comparable.
--   since   day of the first publication or run after it (YYYY-MM-DD)
--   run     label of the first run of that publication that is measured the new way; empty if all of its runs are
--   doc     what is known about it
let Break = { since : Text, run : Text, doc : Text }

-- One metric.
--   doc        what it is, where the name does not say it
--   measure    the measure of each row of the grain; a row without a value gives no sample
--   where      which rows count (default: all)
--   accepted   whether filters apply to the rows
--   per        empty: all samples form one distribution; otherwise each value of this column (the host) has its
--              own distribution, and the metric is summarised over these
--   sampledOnly  with `per`: whether only values with samples count; else a value without samples counts with samples
--                of 0
--   better     lower, higher or neither
--   width      digits of its value in published tables and charts
--   margin     of judgements; default: the margin of the report
--   quantity   what it measures: duration, size, count, rate, share (none of them is ever below 0) or signed; default: as
--              its unit and measure show
--   exact      all runs of a version have the same value, such as a number of instructions, so any change of it is certain
--   steps      ids of metrics of the grain that measure its parts, in order, where `assay why` derives others or none
--   breaks     points at which its values stop being comparable, though its definition stays
--   examples   examples of a formula, which `assay check` verifies
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
          , sampledOnly : Bool
          , unit : U.Unit
          , better : Text
          , width : Natural
          , margin : Optional Margin
          , quantity : Text
          , exact : Bool
          , steps : List Text
          , breaks : List Break
          , examples : List Example
          }
      , default =
        { doc = ""
        , where = X.nothing
        , accepted = True
        , reduction = None Reduction
        , per = ""
        , sampledOnly = True
        , better = "neither"
        , width = 4
        , margin = None Margin
        , quantity = ""
        , exact = False
        , steps = [] : List Text
        , breaks = [] : List Break
        , examples = [] : List Example
        }
      }

-- The completion of a metric of a grain: `let ofBlock = S.metricOf block`, then `ofBlock::{ id = ..., ... }`.
let metricOf =
      \(g : G.Grain.Type) -> { Type = Metric.Type, default = Metric.default /\ { grain = g.name } }

let towards =
      \(better : Text) ->
      \(g : G.Grain.Type) ->
      \(unit : U.Unit) ->
      \(id : Text) ->
      \(name : Text) ->
      \(measure : Expression) ->
        Metric::{ id, name, grain = g.name, measure, unit, better }

-- How metrics with one distribution per host are averaged over hosts. `lowest` above 0 selects only that many hosts,
-- those with the lowest means. `deviation` selects the printed standard deviation of hosts: greatest or mean.
-- `reciprocalPoints`: charts plot 1 / (1 / median).
let Summary =
      { Type = { name : Text, lowest : Natural, deviation : Text, reciprocalPoints : Bool, doc : Text }
      , default = { lowest = 0, deviation = "greatest", reciprocalPoints = False }
      }

let Parameter = { name : Text, type : Text, unit : U.Unit }

-- A filter's condition on the rows of one grain.
let Condition = { grain : Text, holds : Expression }

let Filter =
      { Type = { name : Text, parameter : Optional Parameter, conditions : List Condition, doc : Text }
      , default.parameter = None Parameter
      }

-- A filter that a report applies, with its argument.
let FilterUse = { name : Text, argument : Optional Text }

let columnNames =
      \(cs : List X.Column) ->
        List/fold
          X.Column
          cs
          (List Text)
          (\(c : X.Column) -> \(rest : List Text) -> [ c.name ] # rest)
          ([] : List Text)

let reduce =
      \(kind : Text) -> \(by : List X.Column) -> Some { by = columnNames by, kind, centile = 0.0, counts = "" } : Optional Reduction

-- An operand of a formula: the value of a metric.
let value = \(m : Metric.Type) -> X.leaf "metric" m.id

in  { Reduction
    , FilterUse
    , Margin
    , Break
      -- the metrics of a record: `all (toMap m)`
    , all = ../Prelude/Map/values.dhall Text Metric.Type
      -- margins: in percent of the baseline, an amount, the greater of both
    , percent = \(percent : Text) -> { percent, amount = "", unit = U.none } : Margin
    , amount = \(amount : Text) -> \(unit : U.Unit) -> { percent = "", amount, unit } : Margin
    , percentOr =
        \(percent : Text) -> \(amount : Text) -> \(unit : U.Unit) -> { percent, amount, unit } : Margin
    , Metric
    , metricOf
      -- a metric of a grain in a unit, with its id, name and measure, that should be lower, or higher
    , lower = towards "lower"
    , higher = towards "higher"
    , Input
    , Example
    , Summary
    , Parameter
    , Condition
    , Filter
    , least = reduce "min"
    , greatest = reduce "max"
    , sum = reduce "sum"
    , number = reduce "count"
    , centile =
        \(c : Double) ->
        \(by : List X.Column) ->
          Some { by = columnNames by, kind = "centile", centile = c, counts = "" } : Optional Reduction
      -- grain, measure, unit and reduction of a percentile of a histogram, for each combination of values of columns:
      -- `S.Metric::(M.histogramCentile 0.95 g.requestTime [ g.requestTime.at ] /\ { ... })`
    , histogramCentile =
        \(c : Double) ->
        \(h : G.Histogram) ->
        \(by : List X.Column) ->
          { grain = h.grain.name
          , measure = X.bound h.unit (X.column h.le)
          , unit = h.unit
          , reduction =
              Some { by = columnNames by, kind = h.kind, centile = c, counts = h.counts.name } : Optional Reduction
          }
    , value
      -- a metric that is a formula over the values of others
    , formula =
        \(f : { id : Text, name : Text, doc : Text, formula : Expression, unit : U.Unit }) ->
          Metric::{
          , id = f.id
          , name = f.name
          , doc = f.doc
          , grain = ""
          , measure = f.formula
          , accepted = False
          , unit = f.unit
          }
      -- the ratio of the averages of two metrics of a grain: of their totals, if both have the same rows
    , ratio =
        \(r : { id : Text, name : Text, doc : Text, unit : U.Unit }) ->
        \(of : Metric.Type) ->
        \(per : Metric.Type) ->
          Metric::{
          , id = r.id
          , name = r.name
          , doc = r.doc
          , grain = ""
          , measure = X.over (value of) (value per)
          , accepted = False
          , unit = r.unit
          }
      -- measure, unit and quantity of the share of rows of which a condition holds: `ofRequest::(M.share failed /\ { ... })`
    , share =
        \(condition : Expression) ->
          { measure = X.asUnit U.percent (X.times (X.natural 100) (X.oneIf condition))
          , unit = U.percent
          , quantity = "share"
          }
      -- the values of an example, and its printed value
    , input =
        \(m : Metric.Type) -> \(x : Double) -> \(unit : U.Unit) -> { metric = m.id, value = Double/show x, unit } : Input
    , inputConstant =
        \(c : S.Constant.Type) -> \(x : Double) -> \(unit : U.Unit) -> { metric = c.name, value = Double/show x, unit } : Input
    , example =
        \(inputs : List Input) -> \(shows : Text) -> \(unit : U.Unit) -> \(doc : Text) -> { inputs, shows, unit, doc } : Example
    , parameter = \(p : Parameter) -> X.leaf "parameter" p.name
    , columnNames
    }
