-- Examples: a small run, and the samples of metrics over it. `assay test` checks each.
let M = ./metric.dhall

let R = ./report.dhall

-- A file of the run: its path from the run's directory, its text.
let File = { path : Text, text : Text }

-- The expected samples of a metric, as decimal numbers in its unit, ascending.
let Expectation = { metric : Text, samples : List Text }

-- An example.
--   files    all files of the run: logs, and the documents with its constants
--   filters  the applied filters (default: none)
--   expect   the expected samples of metrics; no other metrics are computed
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
