-- The four statistics of a quantity in the order of the reports.
let S = ../../schema/package.dhall

let Four = { min : S.Metric.Type, max : S.Metric.Type, avg : S.Metric.Type, sigma : S.Metric.Type }

in  \(m : Four) -> [ m.min, m.max, m.avg, m.sigma ]
