-- The QA report on several testnets, each with its own baseline, as published for a version.
let S = ../schema/package.dhall

let B = S.block

let R = S.report

let constant = (./source.dhall).constant

let qa = ./qa.dhall

let part = qa.part

let m = ./metrics.dhall

let n = (./sampled.dhall).metric

let large = { name = "200-node", title = "200-node testnet" }

let rotating = { name = "rotating", title = "Rotating-node testnet" }

let extensions = { name = "extensions", title = "Vote-extension testbed" }

let every =
      \(group : B.Group) ->
      \(scenario : Text) ->
        B.verdictOfGroup
          group
          (B.verdictWithout [ qa.fault ] (qa.verdict scenario "Experiments compared with the baseline"))

let averages =
      R.section "Averages of each case" [ m.runLatency, n.highestRound, n.blockRate, n.mempoolSize, n.mostMemory ]

let testnets =
      S.Report::{
      , name = "testnets"
      , title = "QA results of {last}"
      , intro = "Load tests of {last} on several testnets. Each testnet is compared with its own baseline."
      , choices = qa.choices
      , cases = Some constant.extensions.name
      , groups = [ large, rotating, extensions ]
      , parts =
            B.ofGroup
              large
              [ part.saturation, part.latencies, part.nodes, part.overload, part.fault, part.logs, part.averages ]
          # B.ofGroup rotating [ part.rotating, part.wholeRun, part.averages ]
          # B.ofGroup
              extensions
              [ part.extensions // { blocks = part.extensions.blocks # B.sections [ averages ] } ]
          # [ B.part
                "Results"
                (   B.prose "prose/testnets_results.md"
                  # B.verdicts
                      [ every large "200 nodes: every configuration"
                      , B.verdictOfGroup
                          large
                          ( B.verdictOf
                              qa.chosen
                              (qa.verdict "200 nodes: chosen experiment" "Chosen experiment compared with the baseline")
                          )
                      , every rotating "Rotating nodes"
                      , B.notJudged extensions "Vote extensions"
                      ]
                )
            ]
      , label = constant.ident.name
      , observations = Some (./observations.dhall).testnets
      , revision = Some constant.commit.name
      , doc = "QA results of several testnets, each compared with its own baseline"
      }

in  { testnets }
