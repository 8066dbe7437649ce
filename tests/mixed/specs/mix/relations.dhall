let S = ../schema/package.dhall

let G = S.grain

let U = S.unit

let e = ./events.dhall

let c =
      { host = G.column "text" "host" U.none "Host"
      , job = G.column "text" "job" U.none "Job"
      , prio = G.column "text" "prio" U.none "Priority"
      , failures = G.column "integer" "failures" U.count "Failures"
      , step = G.column "integer" "step" U.none "Step"
      , users = G.column "integer" "users" U.count "Users"
      , cpu = G.column "real" "cpu" U.millisecond "CPU time"
      , nr = G.column "integer" "nr" U.none "Number"
      , from = G.column "instant" "from_ns" U.nanosecond "Begin"
      , to = G.column "instant" "to_ns" U.nanosecond "End"
      , seq = G.column "integer" "seq" U.none "Place"
      , status = G.column "integer" "status" U.none "Status"
      , took = G.column "integer" "took" U.none "Took"
      }

let jobs = S.Relation::{ name = "jobs", sql = ../../queries/mix/jobs.sql as Text, uses = [ e.enqueued.name ], columns = [ c.host, c.job, c.prio ], key = [ "host", "job" ], doc = "Jobs" }

let totals = S.Relation::{ name = "totals", sql = ../../queries/mix/totals.sql as Text, uses = [ "logs", e.failed.name ], columns = [ c.host, c.failures ], key = [ "host" ], doc = "Hosts" }

let steps = S.Relation::{ name = "step_table", sql = ../../queries/mix/steps.sql as Text, uses = [ e.cost.name ], columns = [ c.step, c.users, c.cpu ], key = [ "step" ], doc = "Steps" }

let whole = S.Relation::{ name = "whole", sql = ../../queries/mix/whole.sql as Text, uses = [ e.queue.name ], columns = [ c.nr, c.from, c.to ], key = [ "nr" ], doc = "The whole time" }

let gets = S.Relation::{ name = "gets", sql = ../../queries/mix/gets.sql as Text, uses = [ e.got.name ], columns = [ c.host, c.seq, c.status, c.took ], key = [ "host", "seq" ], doc = "Requests" }

in  { c, jobs, totals, steps, whole, gets }
