-- Antelope: nodes before and after an upgrade.
let S = ../schema/package.dhall

let endurance = ./endurance.dhall

in  S.Package::{
    , system = "antelope"
    , sources = [ endurance.samples ]
    , events = [ endurance.written ]
    , relations = [ endurance.windows, endurance.drives ]
    , grains = [ endurance.drive ]
    , series = [ endurance.rates ]
    , metrics = endurance.metrics
    , summaries = [ S.Summary::{ name = "rows", doc = "All rows count alike" } ]
    , articles = [ endurance.article ]
    }
