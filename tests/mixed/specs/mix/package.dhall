let S = ../schema/package.dhall

let s = ./source.dhall

let e = ./events.dhall

let r = ./relations.dhall

let g = ./grains.dhall

let m = ./metrics.dhall

let x = ./series.dhall

let o = ./reports.dhall

let f = ./filters.dhall

in  S.Package::{
    , system = "mix"
    , sources = [ s.app, s.proxy, s.cost, s.samples ]
    , events = [ e.enqueued, e.started, e.done, e.failed, e.got, e.cost, e.cpu, e.queue ]
    , relations = [ r.jobs, r.totals, r.steps, r.whole, r.gets ]
    , grains = [ g.job, g.host, g.step, g.get ]
    , coverage = [ S.onSomeRows g.at.done, S.onSomeRows g.at.failed ]
    , metrics = [ m.wait, m.work, m.size, m.failures, m.failed, m.came, m.cpu, m.users, m.ratio, m.took ]
    , series = [ x.queue, x.cpu ]
    , filters = [ f.big, f.high ]
    , summaries = [ S.Summary::{ name = "all", doc = "All hosts" } ]
    , reports = [ o.report, o.phased, o.article ]
    , cuts = [ o.deploy ]
    }
