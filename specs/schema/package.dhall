-- The spec language: every word that specs use. `let S = ../schema/package.dhall`
let U = ./units.dhall

let X = ./expression.dhall

let S = ./source.dhall

let E = ./event.dhall

let G = ./grain.dhall

let M = ./metric.dhall

let R = ./report.dhall

let B = ./block.dhall

let O = ./observation.dhall

let Q = ./example.dhall

let P = ./phase.dhall

let C = ./coverage.dhall

let D = ./complete.dhall

-- A unit of the domain that is not in the unit library.
let BaseUnit = { name : Text, doc : Text }

-- A unit of the domain that is `factor`, a decimal number, times another.
let DerivedUnit = { name : Text, factor : Text, of : Text, doc : Text }

let allSamples = [ M.Summary::{ name = "all", doc = "All samples count alike" } ]

-- Everything that the specs of one system define; its root file evaluates to a package. Omitted lists are empty.
let Package =
      { Type =
          { system : Text
          , units : List BaseUnit
          , derivedUnits : List DerivedUnit
          , sources : List S.Source.Type
          , events : List E.Event
          , relations : List G.Relation.Type
          , grains : List G.Grain.Type
          , metrics : List M.Metric.Type
          , filters : List M.Filter.Type
          , summaries : List M.Summary.Type
          , reports : List R.Report.Type
          , series : List G.Series.Type
          , examples : List Q.Example.Type
          , cuts : List P.Cut.Type
          , coverage : List C.Coverage.Type
          , filterFiles : List R.FilterFile.Type
          }
      , default =
        { units = [] : List BaseUnit
        , derivedUnits = [] : List DerivedUnit
        , sources = [] : List S.Source.Type
        , events = [] : List E.Event
        , relations = [] : List G.Relation.Type
        , grains = [] : List G.Grain.Type
        , metrics = [] : List M.Metric.Type
        , filters = [] : List M.Filter.Type
        , summaries = allSamples
        , reports = [] : List R.Report.Type
        , series = [] : List G.Series.Type
        , examples = [] : List Q.Example.Type
        , cuts = [] : List P.Cut.Type
        , coverage = [] : List C.Coverage.Type
        , filterFiles = [] : List R.FilterFile.Type
        }
      }

in  { unit = U
    , Unit = U.Unit
    , BaseUnit
    , DerivedUnit
    , Package
    , Expression = X.Expression
    , Column = X.Column
    , x = X
    , source = S
    , Source = S.Source
    , Lookup = D.Lookup
    , Quarantine = D.Quarantine
    , Constant = S.Constant
    , event = E
    , Event = E.Event
    , Field = E.Field
    , Form = D.Form
    , grain = G
    , Relation = G.Relation
    , Check = G.Check
    , Grain = G.Grain
    , Instant = G.Instant
    , Tally = D.Tally
    , Runs = D.Runs
    , Series = G.Series
    , Sampled = D.Sampled
    , Gone = D.Gone
    , metric = M
    , Metric = M.Metric
    , metrics = M.all
    , metricOf = M.metricOf
    , Margin = M.Margin
    , Summary = M.Summary
    , Filter = M.Filter
    , report = R
    , Report = R.Report
    , Section = D.Section
    , Chart = D.Chart
    , RunTimeline = D.RunTimeline
    , ManifestRow = D.ManifestRow
    , Break = D.Break
    , Judgement = R.Judgement
    , FilterFile = R.FilterFile
    , Edition = R.Edition
    , observation = O
    , Observation = O.Observation
    , Observations = O.Rules
    , block = B
    , Block = B.Block
    , Part = B.Part
    , History = R.History
    , Publications = R.Publications
    , example = Q
    , Example = Q.Example
    , phase = P
    , Cut = P.Cut
    , Phase = P.Phase
    , coverage = C
    , Coverage = C.Coverage
    , onSomeHosts = C.onSomeHosts
    , onSomeRows = C.onSomeRows
    , dropNotice = C.dropNotice
    , elapsed = G.elapsed
    , orElse = X.orElse
    }
