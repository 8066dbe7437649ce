-- Parts of reports, and their blocks: prose, tables and figures.
let U = ./units.dhall

let X = ./expression.dhall

let M = ./metric.dhall

let G = ./grain.dhall

let S = ./source.dhall

let P = ./phase.dhall

let C = ./claim.dhall

let O = ./observation.dhall

-- A table of the rows of a grain: key columns, then the values of metrics on each row. A metric of another grain that
-- has the key columns of the listing shows its reduced value, or its mean, over the rows with that key.
--   rejected  the rows that filters reject, with the names of these filters
--   most      pages print only the rows with the greatest values of this metric
--   files     all rows are also written to files
let Listing =
      { title : Text
      , grain : Text
      , keys : List Text
      , metrics : List Text
      , rejected : Bool
      , most : Optional Text
      , files : Bool
      }

-- The rows of all runs of which a metric is worst, at most `limit`: run, key of the row, and value.
let WorstRows = { title : Text, metric : Text, limit : Natural }

-- Blocks of reports over publications: the level shifts and drifts of their metrics; the largest changes between runs of
-- one publication, at most `limit`; a plot of each metric over publications.
let LevelShifts = { title : Text }

let LargestMoves = { title : Text, limit : Natural }

let Trends = { title : Text, doc : Text, metrics : List Text, template : Text }

-- A column whose value is a constant of the run; a constant that is 0 or empty sets no value.
let Pin = { column : Text, constant : Text }

-- Columns of a grain with the first and last instant of the time of a row.
let Span = { begin : Text, end : Text }

-- A row of a grain that is chosen in each run. If constants of the run set `pins`, it is the row with these values.
-- Else it is the row with the greatest value of the metric `most`, among the rows whose metric `done` is at most
-- `tolerance` percent below the metric `due` (with `short`: more than that below it). Ties are resolved by the least
-- values of the columns `least`, then by the least `first`; without `most`, the least `first` counts. With pins and
-- without `most`, a run that sets no pins has no such row.
--   keys      with keys, the row is chosen in the last run, and every other run has the row with the same values in
--             these columns; without, it is chosen in each run
--   label     columns that identify the row in text
--   time      columns with the first and last instant of its time, for figures
--   absent    the text for a run without such a row: `no ...`
--   without   choices (without keys) whose rows are chosen only by pins
--   repeats   columns in which the repeats of the chosen row agree with it; empty: `keys`
let Choice =
      { Type =
          { name : Text
          , title : Text
          , grain : Text
          , keys : List Text
          , pins : List Pin
          , most : Optional Text
          , done : Optional Text
          , due : Optional Text
          , tolerance : Natural
          , short : Bool
          , least : List Text
          , first : Text
          , label : List Text
          , time : Optional Span
          , absent : Text
          , without : List Text
          , repeats : List Text
          }
      , default =
        { keys = [] : List Text
        , pins = [] : List Pin
        , most = None Text
        , done = None Text
        , due = None Text
        , tolerance = 0
        , short = False
        , least = [] : List Text
        , time = None Span
        , without = [] : List Text
        , repeats = [] : List Text
        }
      }

-- A table with a row per value of the column `down`, a column per value of `across`, and values of a metric in its
-- cells.
--   first      the column that distinguishes repeats: rows of the same cell, which shows their mean
--   due        a metric with the expected value; a cell more than `tolerance` percent below it is marked
--   diagonals  cells of equal `down` times `across` share a shade, and are listed in their own table
--   choice     the cell of the chosen row is bold, with `diagonals` all cells of its diagonal
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
      , choice : Optional Text
      , without : List Text
      }

-- A figure of a series: a line per value of a label; `mean`: also the mean of all lines, dashed; `alone`: only the
-- mean.
--   stacked  lines are stacked layers
--   choice   only the time of the chosen row, from its start, instead of all windows of the series
let Timeline =
      { series : Text
      , title : Text
      , line : Optional Text
      , mean : Bool
      , alone : Bool
      , stacked : Bool
      , choice : Optional Text
      , template : Text
      }

-- A figure of the rows of a grain over their instants `at`: a line per metric, all in one unit. A row without a value
-- interrupts a line.
--   by  instead, a line of the only metric per value of this column
let Curve = { title : Text, grain : Text, metrics : List Text, template : Text, by : Optional Text }

-- A figure per value of the column `per`: rows as points, one metric over another. The columns `label` of the grain
-- `of`, whose key is `per`, name a figure; figures of several runs with equal columns `keys` are side by side.
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

-- A table that compares further runs with the first, on the rows of a grain with equal `keys`: a value more than
-- `tolerance` percent worse fails (for a metric without a direction: more than that different).
--   scenario  the name of the verdict in the table of results
--   choice    only the chosen row of each run
--   first     the column that distinguishes repeats: rows of a run with equal `keys`, whose mean is judged
--   without   choices whose rows are not judged
--   group     the group whose runs are judged, in a part without a group
-- Without a grain nothing is judged, and the scenario has rows only in the table of results.
let Verdict =
      { title : Text
      , scenario : Text
      , grain : Optional Text
      , keys : List Text
      , metrics : List Text
      , tolerance : Natural
      , choice : Optional Text
      , first : Optional Text
      , without : List Text
      , group : Optional Text
      }

-- Small multiples: a row per run that is a case (`cases` of the report), a column per scatter and timeline. Scatters
-- show the rows with the key of the chosen row, timelines its time, both with its repeats; without a choice, all rows.
let Grid = { title : Text, choice : Optional Text, scatters : List Scatter, timelines : List Timeline, template : Text }

-- A class with its amount, a decimal number in a unit.
let Class = { name : Text, amount : Text, unit : U.Unit }

-- A table of metrics by declared classes: a row per class, and in each column a formula (`value`) over the amount of
-- the class and the values of metrics, in `unit`.
--   heading    the heading of the column with the names of the classes
--   across     a column per row of the metrics' grain, with its value of this column as heading, instead of a column per
--              run, with averages of metrics
--   width      digits of a value, as of a metric
let ClassTable =
      { title : Text
      , heading : Text
      , classes : List Class
      , value : X.Expression
      , unit : U.Unit
      , across : Optional Text
      , width : Natural
      }

-- A chart: `cdf` shows the cumulative distribution, with a line per run. `scale`: linear, log, or auto.
--   by, limit   as in a section: a figure per run, with a line per value
let Chart = { metric : Text, template : Text, scale : Text, by : List Text, limit : Natural }

-- A figure of a series over time, with a line per run. `over` is the reduction of the lines of the series to one: mean,
-- sum, least, greatest; None if the series has one line.
let RunTimeline = { title : Text, series : Text, over : Optional Text, template : Text }

-- A table of metrics: a column per run, or per phase, with differences from the first. `*GRAIN` stands for all metrics
-- of a grain that no section of the report has. `columns` are printed in addition to averages: median, min, max, stddev,
-- mean, count, p95, p99.9.
--   by      one or two dimensions: each metric is followed by a row per value of these
--   limit   the number of values with rows, those with the most samples; all other samples are pooled (0 without `by`)
let Section =
      { title : Text, doc : Text, metrics : List Text, columns : List Text, by : List Text, limit : Natural }

-- The expected change of a metric's average from the first column to another: `falls` or `rises` by at least a
-- percentage, `stays` within it, `not worse` by more than it.
let Rule = { metric : Text, kind : Text, percent : Natural }

-- A table of rules, with the result of each.
let Conclusion = { title : Text, rules : List Rule }

-- A table of series in one unit: label filter, lines, and the mean over time of the mean of all lines.
--   choice  only the time of the chosen row, instead of all windows of the series
let Averages = { title : Text, series : List Text, choice : Optional Text }

-- A group of runs: the first is its baseline. Its runs are named GROUP:LABEL on the command line.
--   title  prefix of the titles of its parts
let Group = { name : Text, title : Text }

-- What a part shows.
--   Prose  the text of a file below the folder of the system's specs, which may quote results
--   Facts  a table of constants, by their names
--   FirstPage, Parameters, Dictionary, DataQuality  the verdicts of all compared metrics, the table of run parameters, the
--     data dictionary, what is known of the quality of the data; they have a place of their own in reports whose parts do
--     not show them
let Block =
      < Prose : Text
      | Facts : List Text
      | FirstPage
      | Parameters
      | Dictionary
      | DataQuality
      | Scatter : Scatter
      | Timeline : Timeline
      | RunTimeline : RunTimeline
      | Curve : Curve
      | Grid : Grid
      | Section : Section
      | Chart : Chart
      | Pivot : Pivot
      | Listing : Listing
      | WorstRows : WorstRows
      | Verdict : Verdict
      | ClassTable : ClassTable
      | Averages : Averages
      | Conclusion : Conclusion
      | LevelShifts : LevelShifts
      | LargestMoves : LargestMoves
      | Trends : Trends
      >

let each =
      \(Item : Type) ->
      \(show : Item -> Block) ->
      \(items : List Item) ->
        List/fold
          Item
          items
          (List Block)
          (\(item : Item) -> \(rest : List Block) -> [ show item ] # rest)
          ([] : List Block)

-- A part of a report: blocks in the order of the page.
--   group  the group of runs that it shows, in a report with groups
let Part =
      { Type = { title : Text, group : Optional Text, blocks : List Block }
      , default = { group = None Text, blocks = [] : List Block }
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
      \(title : Text) -> \(s : G.Series.Type) -> \(line : Optional Text) ->
          { series = s.name
          , title
          , line
          , mean = False
          , alone = False
          , stacked = False
          , choice = None Text
          , template = "timeline"
          }
        : Timeline

let rule = \(kind : Text) -> \(m : M.Metric.Type) -> \(percent : Natural) -> { metric = m.id, kind, percent } : Rule

in  { Listing
    , WorstRows
    , LevelShifts
    , LargestMoves
    , Trends
      -- parts of a report over publications
    , levelShifts = { title = "Level shifts", group = None Text, blocks = [ Block.LevelShifts { title = "Level shifts" } ] }
    , largestMoves =
        \(limit : Natural) ->
          { title = "Largest moves", group = None Text, blocks = [ Block.LargestMoves { title = "Largest moves", limit } ] }
    , trends =
        \(sections : List Section) ->
          List/fold
            Section
            sections
            (List Part.Type)
            ( \(s : Section) ->
              \(rest : List Part.Type) ->
                  [ { title = s.title
                    , group = None Text
                    , blocks = [ Block.Trends (s.{ title, doc, metrics } /\ { template = "history" }) ]
                    }
                  ]
                # rest
            )
            ([] : List Part.Type)
    , Section
    , Chart
    , Rule
    , Conclusion
    , conclusion = \(title : Text) -> \(rules : List Rule) -> { title, rules } : Conclusion
    , falls = rule "falls"
    , rises = rule "rises"
    , stays = rule "stays"
    , notWorse = rule "not worse"
      -- blocks of a part, to join with `#` in the order of the page
    , prose = \(file : Text) -> [ Block.Prose file ]
      -- a table of constants
    , facts =
        \(cs : List S.Constant.Type) ->
          [ Block.Facts
              ( List/fold
                  S.Constant.Type
                  cs
                  (List Text)
                  (\(c : S.Constant.Type) -> \(rest : List Text) -> [ c.name ] # rest)
                  ([] : List Text)
              )
          ]
      -- the first page, with the verdicts of all compared metrics, here instead of before all parts
    , firstPage = [ Block.FirstPage ]
      -- the table of run parameters, here instead of at the beginning
    , parameters = [ Block.Parameters ]
      -- the data dictionary, here instead of at the end
    , dictionary = [ Block.Dictionary ]
      -- the quality of the data of runs, here instead of at the end
    , dataQuality = [ Block.DataQuality ]
    , scatters = each Scatter Block.Scatter
    , timelines = each Timeline Block.Timeline
    , runTimelines = each RunTimeline Block.RunTimeline
    , curves = each Curve Block.Curve
    , grids = each Grid Block.Grid
    , sections = each Section Block.Section
    , charts = each Chart Block.Chart
    , pivots = each Pivot Block.Pivot
    , listings = each Listing Block.Listing
    , worst =
        \(title : Text) ->
        \(m : M.Metric.Type) ->
        \(limit : Natural) ->
          [ Block.WorstRows { title, metric = m.id, limit } ]
    , verdicts = each Verdict Block.Verdict
    , classTables = each ClassTable Block.ClassTable
    , averagesTables = each Averages Block.Averages
    , conclusions = each Conclusion Block.Conclusion
      -- the names of sources, for a report's alternatives
    , alternatives =
        \(ss : List S.Source.Type) ->
          List/fold
            S.Source.Type
            ss
            (List Text)
            (\(s : S.Source.Type) -> \(rest : List Text) -> [ s.name ] # rest)
            ([] : List Text)
    , Pin
    , Span
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
                [ p // { group = Some g.name, title = "${g.title}: ${p.title}" } ] # rest
            )
            ([] : List Part.Type)
    , Choice
    , Pivot
    , Timeline
    , RunTimeline
    , Curve
    , Scatter
    , Verdict
    , Grid
    , Class
    , ClassTable
    , Averages
    , Block
    , Part
      -- a part with a title and blocks
    , part = \(title : Text) -> \(blocks : List Block) -> Part::{ title, blocks }
    , pin = \(column : X.Column) -> \(constant : S.Constant.Type) -> { column = column.name, constant = constant.name } : Pin
    , listing =
        \(title : Text) -> \(g : G.Grain.Type) -> \(keys : List X.Column) -> \(ms : List M.Metric.Type) ->
            { title
            , grain = g.name
            , keys = M.columnNames keys
            , metrics = ids ms
            , rejected = False
            , most = None Text
            , files = False
            }
          : Listing
      -- a listing of the rows that filters reject
    , rejected = \(l : Listing) -> l // { rejected = True }
      -- a listing of which pages print only the rows with the greatest values of a metric
    , most = \(m : M.Metric.Type) -> \(l : Listing) -> l // { most = Some m.id }
      -- a listing of which all rows are also written to files
    , withFiles = \(l : Listing) -> l // { files = True }
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
            , grain = Some v.grain.name
            , keys = M.columnNames v.keys
            , metrics = ids v.metrics
            , tolerance = v.tolerance
            , choice = None Text
            , first = Some v.first.name
            , without = [] : List Text
            , group = None Text
            }
          : Verdict
      -- a verdict on the chosen row only
    , verdictOf = \(c : Choice.Type) -> \(v : Verdict) -> v // { choice = Some c.name }
      -- a verdict on the runs of a group
    , verdictOfGroup =
        \(g : Group) -> \(v : Verdict) -> v // { group = Some g.name, title = "${g.title}: ${v.title}" } : Verdict
      -- a scenario of a group that is not judged
    , notJudged =
        \(g : Group) -> \(scenario : Text) ->
            { title = scenario
            , scenario
            , grain = None Text
            , keys = [] : List Text
            , metrics = [] : List Text
            , tolerance = 0
            , choice = None Text
            , first = None Text
            , without = [] : List Text
            , group = Some g.name
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
            , choice = None Text
            , without = [] : List Text
            }
          : Pivot
      -- a pivot with marked diagonals
    , withDiagonals = \(p : Pivot) -> p // { diagonals = True }
      -- a pivot with the chosen row's cell, or diagonal, bold
    , withChoice = \(c : Choice.Type) -> \(p : Pivot) -> p // { choice = Some c.name }
      -- a pivot without the rows of some choices
    , pivotWithout = \(cs : List Choice.Type) -> \(p : Pivot) -> p // { without = names cs }
    , amount
    , class =
        \(name : Text) -> \(amount : Double) -> \(unit : U.Unit) -> { name, amount = Double/show amount, unit } : Class
    , against =
        \(t : { title : Text, heading : Text, classes : List Class, value : X.Expression, unit : U.Unit }) ->
          t /\ { across = None Text, width = 4 } : ClassTable
      -- the time in which a rate uses up the amount of each class
    , usedUp =
        \(t : { title : Text, heading : Text, classes : List Class, metric : M.Metric.Type, unit : U.Unit }) ->
            { title = t.title
            , heading = t.heading
            , classes = t.classes
            , value = X.over amount (M.value t.metric)
            , unit = t.unit
            , across = None Text
            , width = 4
            }
          : ClassTable
    , across = \(c : X.Column) -> \(t : ClassTable) -> t // { across = Some c.name } : ClassTable
    , lines = \(title : Text) -> \(s : G.Series.Type) -> \(line : Text) -> timeline title s (Some line)
    , curve =
        \(title : Text) -> \(g : G.Grain.Type) -> \(ms : List M.Metric.Type) ->
          { title, grain = g.name, metrics = ids ms, template = "timeline", by = None Text } : Curve
      -- a line for each value of a column
    , curveBy =
        \(title : Text) -> \(g : G.Grain.Type) -> \(m : M.Metric.Type) -> \(c : X.Column) ->
          { title, grain = g.name, metrics = ids [ m ], template = "timeline", by = Some c.name } : Curve
    , linesAndMean =
        \(title : Text) -> \(s : G.Series.Type) -> \(line : Text) ->
          timeline title s (Some line) // { mean = True, template = "timeline-mean" }
    , meanOnly =
        \(title : Text) -> \(s : G.Series.Type) -> timeline title s (None Text) // { mean = True, alone = True }
    , stack =
        \(title : Text) -> \(s : G.Series.Type) -> \(line : Text) ->
          timeline title s (Some line) // { stacked = True, template = "timeline-area" }
      -- timelines cut to the time of the chosen row
    , during =
        \(c : Choice.Type) ->
        \(ts : List Timeline) ->
          List/fold
            Timeline
            ts
            (List Timeline)
            (\(t : Timeline) -> \(rest : List Timeline) -> [ t // { choice = Some c.name } ] # rest)
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
          { title, choice = Some c.name, scatters, timelines, template = "grid" } : Grid
      -- several series, compared with the first
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
            , choice = None Text
            }
          : Averages
      -- the same over the time of the chosen row
    , averagesDuring = \(c : Choice.Type) -> \(a : Averages) -> a // { choice = Some c.name }
    , Claim = C.Claim
    , Cell = C.Cell
    , cell = C.cell
    , claim =
        \(c : { document : Text, statement : Text, run : Text, pivot : Pivot, cells : List C.Cell }) ->
          c // { pivot = c.pivot.title } : C.Claim
    }
