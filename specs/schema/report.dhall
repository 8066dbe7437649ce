-- Reports.
let X = ./expression.dhall

let S = ./source.dhall

let G = ./grain.dhall

let M = ./metric.dhall

let P = ./phase.dhall

let B = ./block.dhall

let O = ./observation.dhall

-- How a manifest value is printed: text, unsuffixed (a text without trailing letters s), integer, real, spread, date,
-- time; `cut` is the number of printed characters (0: all); `empty` replaces an empty text.
let Cell = { kind : Text, cut : Natural, empty : Text }

-- What a row of the manifest shows: a constant of the run, which counts as empty if the constant `needs` is; a column of
-- a relation that yields one row; or a fact of the build (analysis date, filters applied).
let ManifestValue =
      < Constant : { constant : Text, needs : Optional Text }
      | Column : { relation : Text, column : Text }
      | Built : Text
      >

let ManifestRow = { id : Text, label : Text, value : ManifestValue, cell : Cell }

let Section = B.Section

let Chart = B.Chart

let DictionaryGroup = { title : Text, metrics : List Text }

let FilterUse = M.FilterUse

-- A condition of a filter file: its tags, outermost first, and the corresponding filter.
let FilterTag = { tags : List Text, filter : Text }

-- A named list of filters that another tool ships.
let FilterSet = { name : Text, filters : List FilterUse }

let KeyPath = { keys : List Text }

-- The JSON documents of another tool with filters: a list of conditions, or an object with such lists at `lists`, and
-- lists of names of sets or files at `names`. A condition is an object: the member `tag` has its tag, the member
-- `contents` a further condition or the argument. `files` are such documents in the directory of a run.
let FilterFile =
      { Type =
          { name : Text
          , tag : Text
          , contents : Text
          , conditions : List FilterTag
          , lists : List KeyPath
          , names : List KeyPath
          , sets : List FilterSet
          , files : List Text
          }
      , default =
        { tag = "tag"
        , contents = "contents"
        , lists = [] : List KeyPath
        , names = [] : List KeyPath
        , sets = [] : List FilterSet
        , files = [] : List Text
        }
      }

-- The label of a manifest row in an edition; `id` is that of a row of the report, or of a former row.
let RowLabel = { id : Text, label : Text }

-- Name and unit of a metric in an edition, if they differ from those of the metric.
let Label = { metric : Text, name : Optional Text, symbol : Optional Text }

-- An edition: the form of published reports from the day `since` (YYYY-MM-DD) to that of the next edition.
let Edition =
      { Type =
          { name : Text
          , since : Text
          , style : Text
          , manifest : List RowLabel
          , sections : List Section
          , charts : List Chart
          , dictionary : List DictionaryGroup
          , labels : List Label
          , doc : Text
          }
      , default = { labels = [] : List Label, doc = "" }
      }

-- How differences between runs are judged.
--   level     of intervals, a decimal text
--   margin    for metrics without a margin of their own
--   gate      metrics and segments that must not get worse (empty: all metrics with a direction)
--   repeats   the number of runs of each version that `assay gate` requires (0: one is enough)
let Judgement =
      { Type = { level : Text, margin : M.Margin, gate : List Text, repeats : Natural }
      , default = { level = "0.95", margin = M.percent "2", gate = [] : List Text, repeats = 3 }
      }

-- Runs of other conditions than those of releases: another backend, twice the budget. They have panels of their own.
--   series  what the panel is called, behind the workload
--   runs    their labels
let Experiment = { series : Text, runs : List Text, doc : Text }

-- What a report over publications shows: publications of the report `of`, and builds of it.
let Publications =
      { Type = { of : Text, experiments : List Experiment }, default.experiments = [] : List Experiment }

-- A report.
--   editions       its editions, oldest first
--   title, intro   may hold {base}, {others}, {last} (labels of runs) and {constant.NAME} (of the base run); over
--                  publications {publications}, {first}, {last}, {workloads}, {editions}
--   over           publications and builds of another report (None S.Publications.Type: runs)
--   also           further metrics in the results that no table or chart shows
--   label          the constant with the name of a run in headings (empty: the name of its folder)
--   compare        constants that should agree between runs; a difference is a warning in the report
--   style          the number style: prefixed, three-digits, typst-2026, org-2023
--   judgement      how differences are judged (None S.Judgement.Type: not at all)
--   phases         the phases of each run that are compared, instead of whole runs
--   observations   rules that draft what is said of the tables (None S.Observations.Type: nothing is)
--   manifest       rows of the table of run parameters; without it, a report shows the constants of the runs
--   sections       tables of metrics: short for parts at the beginning, one for each, with its title
--   charts         distributions: short for a part `Distributions` after the sections
--   summary        of averages (empty: the first of the package)
--   parts          prose, figures and tables, `S.block`
--   choices        rows that parts and prose refer to
--   cases          a constant with the case of a run; such runs are shown by grids only, unless all are cases
--   claims         statements of documents about its pivots
--   alternatives   sources of which a run needs one: blocks on missing sources are left out
--   groups         groups of runs, such as testnets; each run belongs to one
--   revision       a constant with the commit of a run's version, printed after its label in tables of results
let Report =
      { Type =
          { name : Text
          , title : Text
          , intro : Text
          , manifest : List ManifestRow
          , sections : List Section
          , charts : List Chart
          , dictionary : List DictionaryGroup
          , style : Text
          , summary : Text
          , filters : List FilterUse
          , also : List Text
          , label : Text
          , compare : List Text
          , editions : List Edition.Type
          , phases : List P.Phase.Type
          , judgement : Optional Judgement.Type
          , observations : Optional O.Rules.Type
          , parts : List B.Part.Type
          , choices : List B.Choice.Type
          , cases : Optional Text
          , claims : List B.Claim
          , alternatives : List Text
          , groups : List B.Group
          , revision : Optional Text
          , over : Optional Publications.Type
          , doc : Text
          }
      , default =
        { manifest = [] : List ManifestRow
        , sections = [] : List Section
        , charts = [] : List Chart
        , dictionary = [] : List DictionaryGroup
        , summary = ""
        , parts = [] : List B.Part.Type
        , choices = [] : List B.Choice.Type
        , cases = None Text
        , claims = [] : List B.Claim
        , alternatives = [] : List Text
        , groups = [] : List B.Group
        , revision = None Text
        , over = None Publications.Type
        , style = "prefixed"
        , phases = [] : List P.Phase.Type
        , observations = None O.Rules.Type
        , judgement = Some Judgement.default
        , filters = [] : List FilterUse
        , also = [] : List Text
        , label = ""
        , compare = [] : List Text
        , editions = [] : List Edition.Type
        , doc = ""
        }
      }

let metricIds =
      \(ms : List M.Metric.Type) ->
        List/fold
          M.Metric.Type
          ms
          (List Text)
          (\(m : M.Metric.Type) -> \(rest : List Text) -> [ m.id ] # rest)
          ([] : List Text)

let rowLabels =
      \(rows : List ManifestRow) ->
        List/fold
          ManifestRow
          rows
          (List RowLabel)
          (\(row : ManifestRow) -> \(rest : List RowLabel) -> [ row.{ id, label } ] # rest)
          ([] : List RowLabel)

let fact =
      \(label : Text) ->
      \(c : S.Constant.Type) ->
      \(cell : Cell) ->
          { id = c.name, label, value = ManifestValue.Constant { constant = c.name, needs = None Text }, cell }
        : ManifestRow

let text = \(cut : Natural) -> { kind = "text", cut, empty = "" } : Cell

-- A report that compares runs in tables, with a group of the dictionary for each.
let comparison =
      \(sections : List Section) ->
        Report::{
        , name = "comparison"
        , title = "{others} against {base}"
        , intro = ""
        , sections
        , dictionary =
            ../Prelude/List/map.dhall
              Section
              DictionaryGroup
              (\(s : Section) -> s.{ title, metrics })
              sections
        }

let timelineOf =
      \(over : Optional Text) ->
      \(title : Text) ->
      \(s : G.Series.Type) ->
        { title, series = s.name, over, template = "timeline" } : B.RunTimeline

in  { Cell
    , ManifestRow
    , ManifestValue
    , Section
    , Chart
    , DictionaryGroup
    , FilterUse
    , FilterTag
    , FilterSet
    , KeyPath
    , FilterFile
    , RowLabel
    , rowLabels
    , Label
    , Edition
    , Judgement
    , Report
    , Experiment
    , Publications
      -- a report over publications
    , History = Report
    , metricIds
      -- the id of the segment of a metric with a value of a dimension, for the gate of a judgement
    , segmentId =
        \(m : M.Metric.Type) ->
        \(c : X.Column) ->
        \(value : Text) ->
          "${m.id}[${c.name}=${Text/show value}]"
    , section =
        \(title : Text) ->
        \(ms : List M.Metric.Type) ->
            { title
            , doc = ""
            , metrics = metricIds ms
            , columns = [] : List Text
            , by = [] : List Text
            , limit = 0
            }
          : Section
      -- a section that splits its metrics by one or two dimensions of their grain
    , splitBy = \(cs : List X.Column) -> \(s : Section) -> s // { by = M.columnNames cs, limit = 10 }
      -- a section with its own metrics, then all others of a grain that no section of the report has
    , withAllOf = \(g : G.Grain.Type) -> \(s : Section) -> s // { metrics = s.metrics # [ "*${g.name}" ] }
      -- a dictionary group with all other metrics of a grain in the same way
    , groupWithAllOf =
        \(g : G.Grain.Type) -> \(d : DictionaryGroup) -> d // { metrics = d.metrics # [ "*${g.name}" ] }
    , group = \(title : Text) -> \(ms : List M.Metric.Type) -> { title, metrics = metricIds ms } : DictionaryGroup
    , cdf =
        \(m : M.Metric.Type) ->
          { metric = m.id, template = "cdf", scale = "auto", by = [] : List Text, limit = 0 } : Chart
      -- the same distribution with its axes swapped: the share of the samples on x, the value on y
    , percentiles =
        \(m : M.Metric.Type) ->
          { metric = m.id, template = "percentiles", scale = "auto", by = [] : List Text, limit = 0 } : Chart
      -- a chart whose axis of values is linear, or logarithmic, whatever the values are
    , linear = \(c : Chart) -> c // { scale = "linear" }
    , logarithmic = \(c : Chart) -> c // { scale = "log" }
      -- a chart per run, with a line per value of one or two dimensions
    , chartBy =
        \(cs : List X.Column) ->
        \(m : M.Metric.Type) ->
          { metric = m.id, template = "cdf", scale = "auto", by = M.columnNames cs, limit = 5 } : Chart
      -- figures of a series over time: of its only line, or of a reduction of its lines
    , timeline = timelineOf (None Text)
    , timelineOfMean = timelineOf (Some "mean")
    , timelineOfSum = timelineOf (Some "sum")
    , timelineOfLeast = timelineOf (Some "least")
    , timelineOfGreatest = timelineOf (Some "greatest")
    , uses = \(f : M.Filter.Type) -> { name = f.name, argument = None Text } : FilterUse
    , tagged = \(tags : List Text) -> \(f : M.Filter.Type) -> { tags, filter = f.name } : FilterTag
    , usesWith = \(f : M.Filter.Type) -> \(argument : Text) -> { name = f.name, argument = Some argument } : FilterUse
      -- a report named `comparison` with these tables; `// { ... }` adds what else it has
    , comparison
      -- label and manifest of a report on versions, which a constant names: `comparison [ ... ] // versions version`
    , versions =
        \(version : S.Constant.Type) ->
          { label = version.name, manifest = [ fact "Version" version (text 0) ] }
    , fact
    , factIf =
        \(label : Text) ->
        \(c : S.Constant.Type) ->
        \(needs : S.Constant.Type) ->
        \(cell : Cell) ->
            { id = c.name, label, value = ManifestValue.Constant { constant = c.name, needs = Some needs.name }, cell }
          : ManifestRow
    , analysisDate =
        \(label : Text) ->
          { id = "analysis_date"
          , label
          , value = ManifestValue.Built "analysis date"
          , cell = { kind = "text", cut = 0, empty = "" }
          } : ManifestRow
    , filtersApplied =
        \(label : Text) ->
          { id = "filters_applied"
          , label
          , value = ManifestValue.Built "filters applied"
          , cell = { kind = "integer", cut = 0, empty = "" }
          } : ManifestRow
    , named = \(m : M.Metric.Type) -> \(name : Text) -> { metric = m.id, name = Some name, symbol = None Text } : Label
    , inUnit = \(m : M.Metric.Type) -> \(symbol : Text) -> { metric = m.id, name = None Text, symbol = Some symbol } : Label
    , labelled =
        \(m : M.Metric.Type) ->
        \(name : Text) ->
        \(symbol : Text) ->
          { metric = m.id, name = Some name, symbol = Some symbol } : Label
    , figure =
        \(label : Text) ->
        \(relation : G.Relation.Type) ->
        \(c : X.Column) ->
        \(cell : Cell) ->
            { id = c.name, label, value = ManifestValue.Column { relation = relation.name, column = c.name }, cell }
          : ManifestRow
    , text
    , unsuffixed = \(cut : Natural) -> { kind = "unsuffixed", cut, empty = "" } : Cell
    , unsuffixedOr = \(empty : Text) -> \(cut : Natural) -> { kind = "unsuffixed", cut, empty } : Cell
    , textOr = \(empty : Text) -> \(cut : Natural) -> { kind = "text", cut, empty } : Cell
    , integer = { kind = "integer", cut = 0, empty = "" } : Cell
    , real = \(cut : Natural) -> { kind = "real", cut, empty = "" } : Cell
    , spread = \(cut : Natural) -> { kind = "spread", cut, empty = "" } : Cell
    , date = { kind = "date", cut = 0, empty = "" } : Cell
    , time = { kind = "time", cut = 0, empty = "" } : Cell
    }
