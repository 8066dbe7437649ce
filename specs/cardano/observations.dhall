-- What reports say of the differences between node versions: from which size on authors of release reports wrote about
-- a metric (reports from 8.7.2 to 10.5.4), and in which order.
let S = ../schema/package.dhall

let O = S.observation

let U = S.unit

let forging = ./metrics/forging.dhall

let peers = ./metrics/peers.dhall

let propagation = ./metrics/propagation.dhall

let machine = ./metrics/machine.dhall

let quiet = "No significant change: {name}."

-- Printed as 2 ms or more.
let steps = O.amount "0.0015" U.second

let resources =
      O.group
        "Resource usage"
        quiet
        [ O.percent "1" [ machine.cpu ]
        , O.percent "3" [ machine.alloc, machine.gcsMinor ]
        , O.percent "1" [ machine.heap ]
        , O.percent "2.5" [ machine.spanCpu ]
        ]

let loop =
      O.group
        "Forging loop"
        quiet
        [ steps [ forging.blockContext ]
        , steps [ forging.ticked ]
        , steps [ forging.snapshot ]
        , steps [ forging.adoption ]
        , O.unlessSaid
            [ forging.blockContext, forging.ticked, forging.snapshot ]
            (O.amount "0.0025" U.second [ forging.announceCum ])
        ]

let propagating =
      O.group
        "Peer propagation"
        quiet
        [ steps [ peers.fetch ], steps [ peers.send ], steps [ peers.adoption ] ]

let endToEnd =
      O.group
        "End-to-end propagation"
        quiet
        [     O.together
                "1"
                "End-to-end adoption time"
                [ propagation.half
                , propagation.eighty
                , propagation.ninety
                , propagation.ninetyTwo
                , propagation.ninetyFour
                , propagation.ninetySix
                , propagation.ninetyEight
                , propagation.all
                ]
          //  { outlier = "4" }
        ]

let alsoOfTheRest = \(g : O.Group) -> g // { rest = quiet }

in  S.Observations::{
    , groups =
      [ resources
      , alsoOfTheRest loop
      , alsoOfTheRest propagating
      , endToEnd
      ]
    , sizes =
      [ O.below "1" "near jitter"
      , O.below "2" "very slight"
      , O.below "5" "slight"
      , O.below "12" "moderate"
      , O.below "40" "clear"
      ]
    , beyond = "massive"
    , plurals = O.plurals [ machine.spanCpu, machine.gcsMinor ]
    , inCase = " under {case}"
    }
