let S = ../schema/package.dhall

let G = S.grain

let X = S.x

let M = S.metric

let U = S.unit

let e = ./events.dhall

let r = ./relations.dhall

let c = r.c

let g = ./grains.dhall

let at = g.at

let wait = S.Metric::{ id = "wait", name = "Waiting", doc = "Time in queue", grain = "job", measure = S.elapsed { from = [ at.came ], to = at.started }, unit = U.millisecond, better = "lower", per = "host" }

let work = S.Metric::{ id = "work", name = "Working", doc = "Time of work", grain = "job", measure = S.elapsed { from = [ at.started ], to = at.done }, unit = U.millisecond, better = "lower" }

let size = S.Metric::{ id = "size", name = "Result size", doc = "Result size", grain = "job", measure = G.taken at.done e.f.kb, unit = U.kibibyte }

let failures = S.Metric::{ id = "failures", name = "Failures", doc = "Failures of a host", grain = "host", measure = X.column c.failures, unit = U.count, accepted = False }

let failed = S.Metric::{ id = "failed_jobs", name = "Failed jobs", doc = "Failed jobs", grain = "job", measure = X.natural 1, where = X.present (G.instant at.failed), unit = U.count, reduction = M.number ([] : List S.Column) }

let came = S.Metric::{ id = "came", name = "Jobs", doc = "Jobs", grain = "job", measure = X.natural 1, unit = U.count, reduction = M.number ([] : List S.Column) }

let cpu = S.Metric::{ id = "step_cpu", name = "CPU of a step", doc = "CPU", grain = "step", measure = X.column c.cpu, unit = U.millisecond }

let users = S.Metric::{ id = "users", name = "Users of a step", doc = "Users", grain = "step", measure = X.column c.users, unit = U.count }

let ratio = M.formula { id = "fail_ratio", name = "Failed share", doc = "Failed jobs by all", formula = X.over (M.value failed) (M.value came), unit = U.percent }

let took = S.Metric::{ id = "took", name = "At the proxy", doc = "Time at the proxy", grain = "get", measure = X.column c.took, unit = U.none }

in  { wait, work, size, failures, failed, came, cpu, users, ratio, took }
