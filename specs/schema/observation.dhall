-- What a report says of the differences that its tables print, drafted by rules.
let U = ./units.dhall

let M = ./metric.dhall

let sentence = "{name} {goes} by {percent} ({size})"

-- A statement on one or several metrics.
--   name      what sentences call the metrics; without it, by their own names
--   metrics   the metrics of the statement
--   atLeast   how large a printed change has to be: percent, an amount, or the greater of both
--   whole     each: metrics that go the same way share a sentence; median: one sentence, if the median of their
--             changes is large enough; runs: a metric whose averages never fall, or never rise, from run to run;
--             alike: metrics without a change larger than `bound` percent; level: the values of each metric on the rows
--             of a table; trend: the same, if they never fall, or never rise, from row to row; below, above: the same,
--             if they lie below or above `bound` on most rows
--   bound     a decimal number: percent, or in the unit of the metric
--   outlier     with median: a metric so many percentage points from the median has a sentence of its own (empty: none)
--   also      metrics that the sentence names too, if they change as much
--   after     the statement is left out if one of these metrics has a statement
--   text      may hold {name}, {goes} (rises, falls), {speed} (gets slower, gets faster), {percent}, {amount}, {size}, {run}, {base},
--             and the averages {from}
--             of the base and {to} of the run; of rows, {level} (least to greatest), {least}, {greatest}, {first} and
--             {last}; {bound}, and the {share} of rows beyond it (all, most)
let Observation =
      { Type =
          { name : Text
          , metrics : List Text
          , atLeast : M.Margin
          , whole : Text
          , bound : Text
          , outlier : Text
          , also : List Text
          , after : List Text
          , text : Text
          }
      , default =
        { name = ""
        , whole = "each"
        , bound = ""
        , outlier = ""
        , also = [] : List Text
        , after = [] : List Text
        , text = sentence
        }
      }

-- Statements under a title. `quiet` is the sentence on metrics whose verdicts are `same` if no statement holds, `rest` if
-- some hold. Both hold {name}, the names of these metrics (empty: metrics without a statement are passed over).
let Group = { title : Text, observations : List Observation.Type, quiet : Text, rest : Text }

-- A word for changes below so many percent.
let Size = { below : Text, word : Text }

let rising = [ "rises", "rise", "rose", "increases", "increase", "increased", "grows", "grow", "grew", "higher", "more", "longer", "slower" ]

let falling = [ "falls", "fall", "fell", "decreases", "decrease", "decreased", "shrinks", "shrink", "shrank", "lower", "less", "fewer", "shorter", "faster", "drops", "drop" ]

let furtherMetric = ", {name} by {percent}"

let cannotTell = "These runs cannot tell: {name}."

let notJudged = "Below the sizes of the rules, without an interval: {name}."

let inSomeCases = " in {case}"

-- The rules of a report.
--   sizes, beyond   words for the sizes of changes, the smallest first, and for larger ones (empty: no words)
--   up, down        words for a direction: the first two are drafted, for one metric and for several; all are recognized
--                   in edited sentences
--   detail          how a sentence names a further metric
--   undecided       on metrics without a statement of which the runs cannot tell
--   unjudged        on metrics without a statement in a report that judges no differences
--   plurals         metrics with names in the plural
--   inCase          follows a sentence that is about some of several reports, or groups of runs
--   every, most     on which rows values lie beyond a bound
let Rules =
      { Type =
          { groups : List Group
          , sizes : List Size
          , beyond : Text
          , up : List Text
          , down : List Text
          , detail : Text
          , undecided : Text
          , unjudged : Text
          , plurals : List Text
          , inCase : Text
          , every : Text
          , most : Text
          }
      , default =
        { sizes = [] : List Size
        , beyond = ""
        , up = rising
        , down = falling
        , detail = furtherMetric
        , undecided = cannotTell
        , unjudged = notJudged
        , plurals = [] : List Text
        , inCase = inSomeCases
        , every = "all"
        , most = "most"
        }
      }

let ids =
      \(ms : List M.Metric.Type) ->
        List/fold
          M.Metric.Type
          ms
          (List Text)
          (\(m : M.Metric.Type) -> \(rest : List Text) -> [ m.id ] # rest)
          ([] : List Text)

in  { Observation
    , Group
    , Size
    , Rules
      -- a change of at least so many percent
    , percent =
        \(least : Text) -> \(ms : List M.Metric.Type) -> Observation::{ metrics = ids ms, atLeast = M.percent least }
      -- a change of at least an amount
    , amount =
        \(least : Text) ->
        \(unit : U.Unit) ->
        \(ms : List M.Metric.Type) ->
          Observation::{
          , metrics = ids ms
          , atLeast = M.amount least unit
          , text = "{name} {goes} by {amount} or {percent} ({size})"
          }
      -- one statement on all metrics under a name, if the median of their changes is at least so many percent
    , together =
        \(least : Text) ->
        \(name : Text) ->
        \(ms : List M.Metric.Type) ->
          Observation::{ name, metrics = ids ms, atLeast = M.percent least, whole = "median" }
      -- the values of metrics on the rows of a table: least to greatest
    , level =
        \(ms : List M.Metric.Type) ->
          Observation::{ metrics = ids ms, atLeast = M.percent "0", whole = "level", text = "{name} is {level}" }
      -- that metrics rise or fall from row to row of a table, with what its rows are sorted by
    , trend =
        \(order : Text) ->
        \(ms : List M.Metric.Type) ->
          Observation::{
          , metrics = ids ms
          , atLeast = M.percent "0"
          , whole = "trend"
          , text = "{name} {goes} with ${order}, from {first} to {last}"
          }
      -- that the averages of metrics rise or fall from run to run, with what the runs are ordered by
    , trendOfRuns =
        \(order : Text) ->
        \(ms : List M.Metric.Type) ->
          Observation::{
          , metrics = ids ms
          , atLeast = M.percent "0"
          , whole = "runs"
          , text = "{name} {goes} with ${order}, from {from} to {to}"
          }
      -- that no change of metrics is larger than so many percent
    , alike =
        \(bound : Text) ->
        \(ms : List M.Metric.Type) ->
          Observation::{
          , metrics = ids ms
          , atLeast = M.percent "0"
          , whole = "alike"
          , bound
          , text = "{name}: no change from {base} larger than {greatest}"
          }
      -- that the values of metrics lie below a bound on most rows of a table
    , mostlyBelow =
        \(bound : Text) ->
        \(ms : List M.Metric.Type) ->
          Observation::{
          , metrics = ids ms
          , atLeast = M.percent "0"
          , whole = "below"
          , bound
          , text = "{name} is below {bound} in {share} rows: {level}"
          }
      -- that the values of metrics lie above a bound on most rows of a table
    , mostlyAbove =
        \(bound : Text) ->
        \(ms : List M.Metric.Type) ->
          Observation::{
          , metrics = ids ms
          , atLeast = M.percent "0"
          , whole = "above"
          , bound
          , text = "{name} is above {bound} in {share} rows: {level}"
          }
      -- an observation on times, which get slower or faster where others rise or fall
    , slower = \(o : Observation.Type) -> o // { text = Text/replace "{goes}" "{speed}" o.text }
      -- an observation whose sentence also names these metrics
    , withDetails = \(ms : List M.Metric.Type) -> \(o : Observation.Type) -> o // { also = ids ms }
      -- an observation that is left out if one of these metrics has a statement
    , unlessSaid = \(ms : List M.Metric.Type) -> \(o : Observation.Type) -> o // { after = ids ms }
    , group =
        \(title : Text) ->
        \(quiet : Text) ->
        \(observations : List Observation.Type) ->
          { title, observations, quiet, rest = "" } : Group
      -- metrics with names in the plural
    , plurals = ids
    , below = \(below : Text) -> \(word : Text) -> { below, word } : Size
    }
