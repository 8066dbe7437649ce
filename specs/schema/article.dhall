-- Articles: reports of prose, tables of rows, pivots and figures.
let U = ./units.dhall

let X = ./expression.dhall

let M = ./metric.dhall

let G = ./grain.dhall

let S = ./source.dhall

let P = ./phase.dhall

let C = ./claim.dhall

-- A table of the rows of a grain: key columns, then what metrics measure on each row. A metric of a grain whose rows
-- belong to those of the listing (it has the columns of their key) shows its reduced value, or its mean.
--   rejected  the rows that filters reject, with the names of these filters (in reports)
--   most      pages print only the rows of which this metric is greatest; empty: all rows
let Listing =
      { title : Text, grain : Text, keys : List Text, metrics : List Text, rejected : Bool, most : Text }

-- A column whose value is a constant of the run; a constant that is 0 or empty sets no value.
let Pin = { column : Text, constant : Text }

-- A row of a grain that is chosen in each run. Where constants of the run tell `pins`, it is the row that has these
-- values. Else, of the rows whose metric `done` does not fall short of the metric `due` by more than `tolerance` percent
-- (with `short`: of those whose does), it is the one of which the metric `most` is greatest; of several, one of those with
-- the least values of the columns `least`. Without `most`, and of several, the least `first` counts; with pins and without
-- `most`, a run that tells none has no such row.
--   keys      with keys the last run chooses, and of every other run it is the row that agrees with that one in these
--             columns; without, each run chooses for itself
--   label     columns that identify the row in text
--   begin, end  columns with the first and last instant of its time, for figures
--   absent    the text for a run without such a row: `no ...`
--   without   choices (without keys) whose rows are chosen only where pins tell so
--   repeats   columns in which the repeats of the chosen row agree with it; empty: `keys`
let Choice =
      { Type =
          { name : Text
          , title : Text
          , grain : Text
          , keys : List Text
          , pins : List Pin
          , most : Text
          , done : Text
          , due : Text
          , tolerance : Natural
          , short : Bool
          , least : List Text
          , first : Text
          , label : List Text
          , begin : Text
          , end : Text
          , absent : Text
          , without : List Text
          , repeats : List Text
          }
      , default =
        { keys = [] : List Text
        , pins = [] : List Pin
        , most = ""
        , done = ""
        , due = ""
        , tolerance = 0
        , short = False
        , least = [] : List Text
        , begin = ""
        , end = ""
        , without = [] : List Text
        , repeats = [] : List Text
        }
      }

-- A table with a row for each value of the column `down`, a column for each of `across`, cells of a metric.
--   first      the column that tells repeats apart: rows that meet in a cell, whose mean it shows
--   due        a metric with the amount that is due; a cell that falls short of it by more than `tolerance` percent is marked
--   diagonals  cells of equal `down` times `across` share a shade, and are listed in their own table
--   choice     the cell of the chosen row is bold, with `diagonals` all cells of its diagonal; empty: none
--   without    choices whose rows are left out
let Pivot =
      { title : Text
      , grain : Text
      , down : Text
      , across : Text
      , metric : Text
      , first : Text
      , due : Text
      , tolerance : Natural
      , diagonals : Bool
      , choice : Text
      , without : List Text
      }

-- A figure of a series: a line for each value of a label; `mean`: that of all lines too, dashed; `alone`: only that.
--   stacked  lines are layers, one upon another
--   choice   only the time of the chosen row, from its beginning; empty: all windows of the series
let Timeline =
      { series : Text
      , title : Text
      , line : Text
      , mean : Bool
      , alone : Bool
      , stacked : Bool
      , choice : Text
      , template : Text
      }

-- A figure of the rows of a grain over their instants `at`: a line for each metric, all in one unit. A row without a value
-- breaks a line.
--   by  a line for each value of this column instead, of the only metric
let Curve = { title : Text, grain : Text, metrics : List Text, template : Text, by : Text }

-- A figure for each value of the column `per`: rows as points, one metric over another. Columns `label` of the grain
-- `of`, whose key is `per`, name a figure; figures of several runs that agree in the columns `keys` are side by side.
let Scatter =
      { title : Text
      , grain : Text
      , per : Text
      , of : Text
      , label : List Text
      , keys : List Text
      , x : Text
      , y : Text
      , template : Text
      }

-- A table that judges further runs by the first, on the rows of a grain that agree in `keys`: a change for the worse of
-- more than `tolerance` percent fails (of a metric that is not better in any direction, any change).
--   scenario  the name of the verdict in the table of results
--   choice    only the chosen row of each run; empty: all rows
--   first     the column that tells repeats apart: rows of a run that agree, whose mean is judged
--   without   choices whose rows are not judged
--   group     in a part without a group, the group whose runs are judged
-- Without a grain nothing is judged: the scenario has its rows in the table of results only.
let Verdict =
      { title : Text
      , scenario : Text
      , grain : Text
      , keys : List Text
      , metrics : List Text
      , tolerance : Natural
      , choice : Text
      , first : Text
      , without : List Text
      , group : Text
      }

-- Small multiples: a row for each run that is a case (the article's `cases`), a column for each scatter and timeline.
-- Scatters show the rows of the chosen row's key, timelines its time, both with its repeats; without a choice all rows.
let Grid = { title : Text, choice : Text, scatters : List Scatter, timelines : List Timeline, template : Text }

-- A class with its amount, a decimal number in a unit.
let Class = { name : Text, amount : Text, unit : U.Unit }

-- A table of metrics against declared classes: a row for each class, and in each column a formula (`value`) over its
-- amount and the values of metrics there, in `unit`.
--   heading    the text above the names of the classes
--   across     empty: a column for each run, over which metrics are averaged; else the rows of the metrics' grain, each
--              called by its value of this column
--   width      digits of a value, as of a metric
let ClassTable =
      { title : Text
      , heading : Text
      , classes : List Class
      , value : X.Expression
      , unit : U.Unit
      , across : Text
      , width : Natural
      }

-- A table of metrics: a column for each run, or each phase of it, with differences from the first.
let Comparison = { title : Text, metrics : List Text }

-- What is expected of a metric's average from the first column to another: `falls` or `rises` by at least so many
-- percent, `stays` within, `not worse` by more.
let Rule = { metric : Text, kind : Text, percent : Natural }

-- A table of rules, and whether they hold.
let Conclusion = { title : Text, rules : List Rule }

-- A table of series in one unit: of each its label filter, its lines, and the mean over time of the mean of all lines.
--   choice  only the time of the chosen row; empty: all windows of the series
let Averages = { title : Text, series : List Text, choice : Text }

-- A group of runs: the first is its baseline. Its runs are named GROUP:LABEL on the command line.
--   title  precedes the titles of its parts
let Group = { name : Text, title : Text }

-- A part: prose (a file below the system's folder of specs; paragraphs that may quote results), figures, tables.
--   group  the group of runs that it shows, of an article that has groups
let Part =
      { Type =
          { title : Text
          , prose : Text
          , group : Text
          , scatters : List Scatter
          , timelines : List Timeline
          , curves : List Curve
          , listings : List Listing
          , pivots : List Pivot
          , verdicts : List Verdict
          , grids : List Grid
          , classTables : List ClassTable
          , comparisons : List Comparison
          , conclusions : List Conclusion
          , facts : List Text
          , averages : List Averages
          }
      , default =
        { comparisons = [] : List Comparison
        , conclusions = [] : List Conclusion
        , facts = [] : List Text
        , prose = ""
        , group = ""
        , scatters = [] : List Scatter
        , timelines = [] : List Timeline
        , curves = [] : List Curve
        , listings = [] : List Listing
        , pivots = [] : List Pivot
        , verdicts = [] : List Verdict
        , grids = [] : List Grid
        , classTables = [] : List ClassTable
        , averages = [] : List Averages
        }
      }

-- A report of parts.
--   title, intro  may hold {base}, {others}, {last} (labels of runs) and {constant.NAME} (of the base run)
--   choices       rows that parts and prose refer to
--   cases         a constant with the case of a run; such runs are shown by grids only, unless all are cases
--   style         the number style: prefixed, three-digits, typst-2026, org-2023
--   label         the constant that names a run
--   phases        the times of each run that are compared
--   claims        statements of documents about its pivots
--   alternatives  sources of which a run needs one: what reads another is left out
--   groups        groups of runs, such as testnets; each run belongs to one
--   revision      a constant with the commit, or the like, of a run's version: beside its label in tables of results
let Article =
      { Type =
          { name : Text
          , title : Text
          , intro : Text
          , parts : List Part.Type
          , choices : List Choice.Type
          , cases : Text
          , style : Text
          , label : Text
          , phases : List P.Phase.Type
          , claims : List C.Claim
          , alternatives : List Text
          , groups : List Group
          , revision : Text
          , doc : Text
          }
      , default =
        { choices = [] : List Choice.Type
        , cases = ""
        , phases = [] : List P.Phase.Type
        , claims = [] : List C.Claim
        , alternatives = [] : List Text
        , groups = [] : List Group
        , revision = ""
        , doc = ""
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

let names =
      \(cs : List Choice.Type) ->
        List/fold
          Choice.Type
          cs
          (List Text)
          (\(c : Choice.Type) -> \(rest : List Text) -> [ c.name ] # rest)
          ([] : List Text)

-- The amount of a class, in the formula of a table against classes.
let amount = X.leaf "parameter" "class"

let timeline =
      \(title : Text) -> \(s : G.Series.Type) -> \(line : Text) ->
          { series = s.name
          , title
          , line
          , mean = False
          , alone = False
          , stacked = False
          , choice = ""
          , template = "timeline"
          }
        : Timeline

let rule = \(kind : Text) -> \(m : M.Metric.Type) -> \(percent : Natural) -> { metric = m.id, kind, percent } : Rule

in  { Listing
    , Comparison
    , Rule
    , Conclusion
    , comparison = \(title : Text) -> \(ms : List M.Metric.Type) -> { title, metrics = ids ms } : Comparison
    , conclusion = \(title : Text) -> \(rules : List Rule) -> { title, rules } : Conclusion
    , falls = rule "falls"
    , rises = rule "rises"
    , stays = rule "stays"
    , notWorse = rule "not worse"
      -- the names of constants, for a part's table of facts
    , facts =
        \(cs : List S.Constant.Type) ->
          List/fold
            S.Constant.Type
            cs
            (List Text)
            (\(c : S.Constant.Type) -> \(rest : List Text) -> [ c.name ] # rest)
            ([] : List Text)
      -- the names of sources, for an article's alternatives
    , alternatives =
        \(ss : List S.Source.Type) ->
          List/fold
            S.Source.Type
            ss
            (List Text)
            (\(s : S.Source.Type) -> \(rest : List Text) -> [ s.name ] # rest)
            ([] : List Text)
    , Pin
    , Group
      -- parts that show the runs of a group
    , ofGroup =
        \(g : Group) ->
        \(parts : List Part.Type) ->
          List/fold
            Part.Type
            parts
            (List Part.Type)
            ( \(p : Part.Type) ->
              \(rest : List Part.Type) ->
                [ p // { group = g.name, title = "${g.title}: ${p.title}" } ] # rest
            )
            ([] : List Part.Type)
    , Choice
    , Pivot
    , Timeline
    , Curve
    , Scatter
    , Verdict
    , Grid
    , Class
    , ClassTable
    , Averages
    , Part
    , Article
    , pin = \(column : X.Column) -> \(constant : S.Constant.Type) -> { column = column.name, constant = constant.name } : Pin
    , listing =
        \(title : Text) -> \(g : G.Grain.Type) -> \(keys : List X.Column) -> \(ms : List M.Metric.Type) ->
            { title, grain = g.name, keys = M.columnNames keys, metrics = ids ms, rejected = False, most = "" }
          : Listing
      -- a listing of the rows that filters reject
    , rejected = \(l : Listing) -> l // { rejected = True }
      -- a listing of which pages print only the rows of which a metric is greatest
    , most = \(m : M.Metric.Type) -> \(l : Listing) -> l // { most = m.id }
    , verdict =
        \(v :
            { scenario : Text
            , title : Text
            , grain : G.Grain.Type
            , keys : List X.Column
            , first : X.Column
            , metrics : List M.Metric.Type
            , tolerance : Natural
            }
         ) ->
            { title = v.title
            , scenario = v.scenario
            , grain = v.grain.name
            , keys = M.columnNames v.keys
            , metrics = ids v.metrics
            , tolerance = v.tolerance
            , choice = ""
            , first = v.first.name
            , without = [] : List Text
            , group = ""
            }
          : Verdict
      -- of a verdict, only the chosen row
    , verdictOf = \(c : Choice.Type) -> \(v : Verdict) -> v // { choice = c.name }
      -- a verdict on the runs of a group
    , verdictOfGroup =
        \(g : Group) -> \(v : Verdict) -> v // { group = g.name, title = "${g.title}: ${v.title}" } : Verdict
      -- a scenario of a group that is not judged
    , notJudged =
        \(g : Group) -> \(scenario : Text) ->
            { title = scenario
            , scenario
            , grain = ""
            , keys = [] : List Text
            , metrics = [] : List Text
            , tolerance = 0
            , choice = ""
            , first = ""
            , without = [] : List Text
            , group = g.name
            }
          : Verdict
      -- a verdict without the rows of some choices
    , verdictWithout = \(cs : List Choice.Type) -> \(v : Verdict) -> v // { without = names cs }
    , pivot =
        \(p :
            { title : Text
            , grain : G.Grain.Type
            , down : X.Column
            , across : X.Column
            , metric : M.Metric.Type
            , first : X.Column
            , due : M.Metric.Type
            , tolerance : Natural
            }
         ) ->
            { title = p.title
            , grain = p.grain.name
            , down = p.down.name
            , across = p.across.name
            , metric = p.metric.id
            , first = p.first.name
            , due = p.due.id
            , tolerance = p.tolerance
            , diagonals = False
            , choice = ""
            , without = [] : List Text
            }
          : Pivot
      -- a pivot with its diagonals told apart
    , withDiagonals = \(p : Pivot) -> p // { diagonals = True }
      -- a pivot with the chosen row's cell, or diagonal, bold
    , withChoice = \(c : Choice.Type) -> \(p : Pivot) -> p // { choice = c.name }
      -- a pivot without the rows of some choices
    , pivotWithout = \(cs : List Choice.Type) -> \(p : Pivot) -> p // { without = names cs }
    , amount
    , class =
        \(name : Text) -> \(amount : Double) -> \(unit : U.Unit) -> { name, amount = Double/show amount, unit } : Class
    , against =
        \(t : { title : Text, heading : Text, classes : List Class, value : X.Expression, unit : U.Unit }) ->
          t /\ { across = "", width = 4 } : ClassTable
      -- how long a metric, which uses up so much in a time, takes for the amount of each class
    , usedUp =
        \(t : { title : Text, heading : Text, classes : List Class, metric : M.Metric.Type, unit : U.Unit }) ->
            { title = t.title
            , heading = t.heading
            , classes = t.classes
            , value = X.over amount (M.value t.metric)
            , unit = t.unit
            , across = ""
            , width = 4
            }
          : ClassTable
    , across = \(c : X.Column) -> \(t : ClassTable) -> t // { across = c.name } : ClassTable
    , lines = timeline
    , curve =
        \(title : Text) -> \(g : G.Grain.Type) -> \(ms : List M.Metric.Type) ->
          { title, grain = g.name, metrics = ids ms, template = "timeline", by = "" } : Curve
      -- a line for each value of a column
    , curveBy =
        \(title : Text) -> \(g : G.Grain.Type) -> \(m : M.Metric.Type) -> \(c : X.Column) ->
          { title, grain = g.name, metrics = ids [ m ], template = "timeline", by = c.name } : Curve
    , linesAndMean =
        \(title : Text) -> \(s : G.Series.Type) -> \(line : Text) ->
          timeline title s line // { mean = True, template = "timeline-mean" }
    , meanOnly =
        \(title : Text) -> \(s : G.Series.Type) -> timeline title s "" // { mean = True, alone = True }
    , stack =
        \(title : Text) -> \(s : G.Series.Type) -> \(line : Text) ->
          timeline title s line // { stacked = True, template = "timeline-area" }
      -- timelines cut to the time of the chosen row
    , during =
        \(c : Choice.Type) ->
        \(ts : List Timeline) ->
          List/fold
            Timeline
            ts
            (List Timeline)
            (\(t : Timeline) -> \(rest : List Timeline) -> [ t // { choice = c.name } ] # rest)
            ([] : List Timeline)
    , scatter =
        \(p :
            { title : Text
            , grain : G.Grain.Type
            , per : X.Column
            , of : G.Grain.Type
            , label : List X.Column
            , keys : List X.Column
            , x : M.Metric.Type
            , y : M.Metric.Type
            }
         ) ->
            { title = p.title
            , grain = p.grain.name
            , per = p.per.name
            , of = p.of.name
            , label = M.columnNames p.label
            , keys = M.columnNames p.keys
            , x = p.x.id
            , y = p.y.id
            , template = "scatter"
            }
          : Scatter
    , grid =
        \(title : Text) -> \(c : Choice.Type) -> \(scatters : List Scatter) -> \(timelines : List Timeline) ->
          { title, choice = c.name, scatters, timelines, template = "grid" } : Grid
      -- series beside the first of them
    , averages =
        \(title : Text) -> \(ss : List G.Series.Type) ->
            { title
            , series =
                List/fold
                  G.Series.Type
                  ss
                  (List Text)
                  (\(s : G.Series.Type) -> \(rest : List Text) -> [ s.name ] # rest)
                  ([] : List Text)
            , choice = ""
            }
          : Averages
      -- the same over the time of the chosen row
    , averagesDuring = \(c : Choice.Type) -> \(a : Averages) -> a // { choice = c.name }
    , Claim = C.Claim
    , Cell = C.Cell
    , cell = C.cell
    , claim =
        \(c : { document : Text, statement : Text, run : Text, pivot : Pivot, cells : List C.Cell }) ->
          c // { pivot = c.pivot.title } : C.Claim
    }
