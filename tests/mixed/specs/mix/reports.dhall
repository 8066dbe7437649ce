let S = ../schema/package.dhall

let R = S.report

let B = S.block

let P = S.phase

let m = ./metrics.dhall

let s = ./series.dhall

let k = (./source.dhall).constant

let c = (./relations.dhall).c

let g = ./grains.dhall

let deploy = P.constant k.deploy

let times = [ m.wait, m.work, m.took ]

let rest = [ m.size, m.failures, m.failed, m.came, m.ratio, m.cpu ]

let report =
      S.Report::{
      , name = "main"
      , title = "{others} against {base}"
      , intro = "How {others} does beside {base} on {constant.cores} cores."
      , manifest = [ R.fact "Release" k.release (R.text 0), R.fact "Cores" k.cores R.integer ]
      , sections = [ R.section "Times" times, R.section "Rest" rest ]
      , charts = [ R.cdf m.wait, R.cdf m.work ]
      , dictionary = [ R.group "All" (times # rest) ]
      , style = "three-digits"
      , summary = "all"
      , label = k.release.name
      , doc = "Releases"
      }

let article =
      S.Report::{
      , name = "story"
      , title = "Story of {last}"
      , intro = "What happened."
      , style = "three-digits"
      , label = k.release.name
      , doc = "A story"
      , parts =
        [ B.Part::{
          , title = "Steps"
          , blocks =
                B.prose "prose/steps.md"
              # B.listings [ B.listing "Steps" g.step [ c.step, c.users ] [ m.cpu ] ]
          }
        , B.Part::{
          , title = "Machine"
          , blocks = B.timelines [ B.lines "Queue" s.queue "instance", B.linesAndMean "CPU" s.cpu "instance" ]
          }
        , B.Part::{ title = "Compared", blocks = B.sections [ R.section "Times" times ] }
        ]
      }

in  { report, phased = report // { name = "phased", phases = [ P.before "before" deploy, P.after "after" deploy ], doc = "Phases" }, article, deploy }
