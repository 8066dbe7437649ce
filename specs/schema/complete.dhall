-- Completions of records that specs write by hand: `S.Section::{ title = "Times" }` has the defaults of all other fields.
-- The types themselves are in the groups, such as `R.Section`.
let X = ./expression.dhall

let S = ./source.dhall

let E = ./event.dhall

let G = ./grain.dhall

let M = ./metric.dhall

let R = ./report.dhall

let B = ./block.dhall

let Lookup = { Type = S.Lookup, default = { inBody = False, drop = "", generation = "" } }

let Quarantine = { Type = S.Quarantine, default = { share = 0.001, atLeast = 10 } }

let Form = { Type = E.Form, default = { names = [] : List E.Name, unless = [] : List E.Unless } }

let Tally = { Type = G.Tally, default.where = X.nothing }

let Runs = { Type = G.Runs, default = { by = [] : List Text, carry = [] : List Text } }

let Sampled = { Type = G.Sampled, default.where = X.nothing }

let Gone = { Type = G.Gone, default = { on = [] : List Text, where = X.nothing } }

let Section =
      { Type = B.Section
      , default =
        { doc = "", metrics = [] : List Text, columns = [] : List Text, by = [] : List Text, limit = 10 }
      }

let Chart = { Type = B.Chart, default = { template = "cdf", scale = "auto", by = [] : List Text, limit = 5 } }

let RunTimeline = { Type = B.RunTimeline, default = { over = None Text, template = "timeline" } }

let ManifestRow =
      { Type = R.ManifestRow, default.cell = R.text 0 }

let Break = { Type = M.Break, default = { run = "", doc = "" } }

in  { Lookup, Quarantine, Form, Tally, Runs, Sampled, Gone, Section, Chart, RunTimeline, ManifestRow, Break }
