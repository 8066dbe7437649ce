let S = ../schema/package.dhall

let G = S.grain

let X = S.x

let e = ./events.dhall

let r = ./relations.dhall

let c = r.c

let bind = \(n : Text) -> \(ev : S.Event) -> S.Instant::{ name = n, grain = "job", pick = "first", of = ev.name, on = [ G.sameColumn c.host c.host, G.sameColumn c.job c.job ], doc = n }

let at = { came = bind "came" e.enqueued, started = bind "started" e.started, done = bind "done" e.done // { fields = [ e.f.kb.name ] }, failed = bind "failed" e.failed }

let job = S.Grain::{ name = "job", relation = r.jobs.name, at = at.came.name, key = r.jobs.key, columns = r.jobs.columns, instants = [ at.came, at.started, at.done, at.failed ], doc = "A job" }

let host = S.Grain::{ name = "host", relation = r.totals.name, key = [ "host" ], columns = r.totals.columns, doc = "A host" }

let step = S.Grain::{ name = "step", relation = r.steps.name, key = [ "step" ], columns = r.steps.columns, doc = "A step" }

let get = S.Grain::{ name = "get", relation = r.gets.name, key = r.gets.key, columns = r.gets.columns, doc = "A request" }

in  { at, job, host, step, get }
