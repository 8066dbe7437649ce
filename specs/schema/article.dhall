-- Articles: reports made of prose, tables of rows, pivots and figures.
let X = ./expression.dhall

let M = ./metric.dhall

let G = ./grain.dhall

let S = ./source.dhall

let P = ./phase.dhall

-- A table of the rows of a grain: key columns, then what metrics measure on each row.
let Listing = { title : Text, grain : Text, keys : List Text, metrics : List Text }

-- A table with a row for each value of the column `down`, a column for each of `across`, cells of a metric.
--   first      the column whose least value counts where several rows meet in a cell
--   due        a metric that tells what is due; a cell that falls short of it by more than `tolerance` percent is marked
let Pivot =
      { title : Text
      , grain : Text
      , down : Text
      , across : Text
      , metric : Text
      , first : Text
      , due : Text
      , tolerance : Natural
      }

-- A figure of a series: a line for each value of a label; `mean`: that of all lines too; `alone`: only that.
let Timeline = { series : Text, title : Text, line : Text, mean : Bool, alone : Bool, template : Text }

-- A figure for each value of the column `per`: rows as points, one metric over another. Columns `label` of the grain
-- `of`, whose key is `per`, name a figure.
let Scatter =
      { title : Text
      , grain : Text
      , per : Text
      , of : Text
      , label : List Text
      , x : Text
      , y : Text
      , template : Text
      }

-- A table that judges further runs by the first, on the rows of a grain that agree in `keys`: a change for the worse of
-- more than `tolerance` percent fails (of a metric that is not better in any direction, any change).
let Verdict = { title : Text, grain : Text, keys : List Text, metrics : List Text, tolerance : Natural }

-- A table of metrics: a column for each run, or each phase of it, with differences from the first.
let Comparison = { title : Text, metrics : List Text }

-- What is expected of a metric's average from the first column to another: `falls` or `rises` by at least so many
-- percent, `stays` within, `not worse` by more.
let Rule = { metric : Text, kind : Text, percent : Natural }

-- A table of rules, and whether they hold.
let Conclusion = { title : Text, rules : List Rule }

-- A part: prose (a file below the system's folder of specs; paragraphs that may quote results), figures, tables.
let Part =
      { Type =
          { title : Text
          , prose : Text
          , scatters : List Scatter
          , timelines : List Timeline
          , listings : List Listing
          , pivots : List Pivot
          , verdicts : List Verdict
          , comparisons : List Comparison
          , conclusions : List Conclusion
          , facts : List Text
          }
      , default =
        { comparisons = [] : List Comparison
        , conclusions = [] : List Conclusion
        , facts = [] : List Text
        , prose = ""
        , scatters = [] : List Scatter
        , timelines = [] : List Timeline
        , listings = [] : List Listing
        , pivots = [] : List Pivot
        , verdicts = [] : List Verdict
        }
      }

-- A report of parts.
--   title, intro  may hold {base}, {others} (labels of runs) and {constant.NAME} (of the base run)
--   style         the number style: typst-2026, org-2023
--   label         the constant that names a run
--   phases        the times of each run that are compared
let Article =
      { Type =
          { name : Text
          , title : Text
          , intro : Text
          , parts : List Part.Type
          , style : Text
          , label : Text
          , phases : List P.Phase.Type
          , doc : Text
          }
      , default = { phases = [] : List P.Phase.Type, doc = "" }
      }

let ids =
      \(ms : List M.Metric.Type) ->
        List/fold
          M.Metric.Type
          ms
          (List Text)
          (\(m : M.Metric.Type) -> \(rest : List Text) -> [ m.id ] # rest)
          ([] : List Text)

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
    , Pivot
    , Timeline
    , Scatter
    , Verdict
    , Part
    , Article
    , listing =
        \(title : Text) -> \(g : G.Grain.Type) -> \(keys : List X.Column) -> \(ms : List M.Metric.Type) ->
          { title, grain = g.name, keys = M.columnNames keys, metrics = ids ms } : Listing
    , verdict =
        \(title : Text) -> \(g : G.Grain.Type) -> \(keys : List X.Column) -> \(ms : List M.Metric.Type) -> \(tolerance : Natural) ->
          { title, grain = g.name, keys = M.columnNames keys, metrics = ids ms, tolerance } : Verdict
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
            }
          : Pivot
    , lines =
        \(title : Text) -> \(s : G.Series.Type) -> \(line : Text) ->
          { series = s.name, title, line, mean = False, alone = False, template = "timeline" } : Timeline
    , linesAndMean =
        \(title : Text) -> \(s : G.Series.Type) -> \(line : Text) ->
          { series = s.name, title, line, mean = True, alone = False, template = "timeline" } : Timeline
    , meanOnly =
        \(title : Text) -> \(s : G.Series.Type) ->
          { series = s.name, title, line = "", mean = True, alone = True, template = "timeline" } : Timeline
    , scatter =
        \(p :
            { title : Text
            , grain : G.Grain.Type
            , per : X.Column
            , of : G.Grain.Type
            , label : List X.Column
            , x : M.Metric.Type
            , y : M.Metric.Type
            }
         ) ->
            { title = p.title
            , grain = p.grain.name
            , per = p.per.name
            , of = p.of.name
            , label = M.columnNames p.label
            , x = p.x.id
            , y = p.y.id
            , template = "scatter"
            }
          : Scatter
    }
