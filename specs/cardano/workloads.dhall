-- The report on a release: its runs under several workloads, with one text of observations on all of them.
let S = ../schema/package.dhall

let B = S.block

let R = S.report

let constant = (./source.dhall).constant

let filters = ./filters.dhall

let contents = ./contents.dhall

let valueOnly = { name = "value-only", title = "Value-only workload" }

let plutus = { name = "plutus", title = "Plutus workload" }

let tables = \(g : B.Group) -> B.Part::{ title = g.title, group = Some g.name, blocks = B.sections contents.tables }

in  S.Report::{
    , name = "workloads"
    , title = "{others} against {base} under several workloads"
    , intro =
        "We compare {others} relative to {base} under several workloads. The first run of each workload is its baseline."
    , groups = [ valueOnly, plutus ]
    , parts = [ tables valueOnly, tables plutus ]
    , style = "prefixed"
    , filters = [ R.uses filters.unitary ]
    , label = constant.ident.name
    , observations = Some ./observations.dhall
    , doc = "Comparison of runs under several workloads, each with its own baseline, with one text of observations"
    }
