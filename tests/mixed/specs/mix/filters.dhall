let S = ../schema/package.dhall

let X = S.x

let M = S.metric

let c = (./relations.dhall).c

let p = { name = "n", type = "integer", unit = S.unit.kilobyte } : M.Parameter

let g = ./grains.dhall

let e = ./events.dhall

in  { big = S.Filter::{ name = "size-geq", doc = "At least n kB", parameter = Some p, conditions = [ { grain = "job", holds = X.atLeast (S.grain.taken g.at.done e.f.kb) (M.parameter p) } ] }
    , high = S.Filter::{ name = "high", doc = "Of high priority", conditions = [ { grain = "job", holds = X.equals (X.column c.prio) (X.text "hi") } ] }
    }
