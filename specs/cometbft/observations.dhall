-- What QA reports say of their tables of experiments and nodes.
let S = ../schema/package.dhall

let O = S.observation

let m = ./metrics.dhall

let level = \(name : Text) -> \(metric : S.Metric.Type) -> O.level [ metric ] // { name }

in  S.Observations::{
    , groups =
      [ O.group
          "Experiments"
          ""
          [ level "The average latency of an experiment" m.average
          , level "The greatest latency of an experiment" m.greatest
          , O.trend "the order of experiments" [ m.average ]
          ]
      , O.group
          "Nodes"
          ""
          [ level "The time that a node takes to catch up" m.catchingUp
          , level "The average block interval of a node" m.intervalAverage
          , level "The greatest block interval of a node" m.intervalGreatest
          , level "The number of errors of a node" m.complaints
          ]
      ]
    }
