-- Examples: a small run, and what metrics come to over it. `assay test` works each out.
let M = ./metric.dhall

let R = ./report.dhall

-- A file of the run: its path from the run's directory, its text.
let File = { path : Text, text : Text }

-- What a metric comes to: its samples, as decimal numbers in the metric's unit, ascending.
let Expectation = { metric : Text, samples : List Text }

-- An example.
--   files    all files of the run: logs, and the documents that its constants are read from
--   filters  those that are applied (none without)
--   expect   what metrics come to; nothing else is worked out
let Example =
      { Type =
          { name : Text
          , files : List File
          , filters : List R.FilterUse
          , expect : List Expectation
          , doc : Text
          }
      , default = { filters = [] : List R.FilterUse, doc = "" }
      }

in  { File
    , Expectation
    , Example
    , file = \(path : Text) -> \(text : Text) -> { path, text } : File
    , samples = \(metric : M.Metric.Type) -> \(samples : List Text) -> { metric = metric.id, samples } : Expectation
    , none = \(metric : M.Metric.Type) -> { metric = metric.id, samples = [] : List Text } : Expectation
      -- lines of a log, each ended by a line feed
    , lines =
        \(them : List Text) ->
          List/fold Text them Text (\(line : Text) -> \(rest : Text) -> line ++ "\n" ++ rest) ""
    }
