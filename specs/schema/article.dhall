-- Articles: reports made of prose, tables of rows, pivots and figures.
let X = ./expression.dhall

let M = ./metric.dhall

let G = ./grain.dhall

let C = ./claim.dhall

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

-- A table of series in one unit: of each its label filter, its lines, and the mean over time of the mean of all lines.
let Averages = { title : Text, series : List Text }

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
          , averages : List Averages
          }
      , default =
        { prose = ""
        , scatters = [] : List Scatter
        , timelines = [] : List Timeline
        , listings = [] : List Listing
        , pivots = [] : List Pivot
        , verdicts = [] : List Verdict
        , averages = [] : List Averages
        }
      }

-- A report of parts.
--   title, intro  may hold {base}, {others} (labels of runs) and {constant.NAME} (of the base run)
--   style         the number style: typst-2026, org-2023
--   label         the constant that names a run
--   claims        what documents say of its pivots
let Article =
      { Type =
          { name : Text
          , title : Text
          , intro : Text
          , parts : List Part.Type
          , style : Text
          , label : Text
          , doc : Text
          , claims : List C.Claim
          }
      , default = { doc = "", claims = [] : List C.Claim }
      }

let ids =
      \(ms : List M.Metric.Type) ->
        List/fold
          M.Metric.Type
          ms
          (List Text)
          (\(m : M.Metric.Type) -> \(rest : List Text) -> [ m.id ] # rest)
          ([] : List Text)

in  { Listing
    , Pivot
    , Timeline
    , Scatter
    , Verdict
    , Averages
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
            }
          : Averages
    , Claim = C.Claim
    , Cell = C.Cell
    , cell = C.cell
    , claim =
        \(c : { document : Text, statement : Text, run : Text, pivot : Pivot, cells : List C.Cell }) ->
          c // { pivot = c.pivot.title } : C.Claim
    }
