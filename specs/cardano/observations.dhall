-- What reports say of the differences between node versions: from which size on authors of release reports wrote about
-- a metric (reports from 8.7.2 to 10.5.4), and in which order.
let S = ../schema/package.dhall

let O = S.observation

let U = S.unit

let forging = ./metrics/forging.dhall

let peers = ./metrics/peers.dhall

let propagation = ./metrics/propagation.dhall

let machine = ./metrics/machine.dhall

-- Printed as 2 ms or more.
let steps = O.amount "0.0015" U.second

let resources =
      O.group
        "Resource usage"
        "The use of resources does not change significantly."
        [ O.percent "1" [ machine.cpu ]
        , O.percent "3" [ machine.alloc, machine.gcsMinor ]
        , O.percent "1" [ machine.heap ]
        , O.percent "2.5" [ machine.spanCpu ]
        ]

let loop =
      O.group
        "Forging loop"
        "Block production does not change significantly."
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
        "Propagation between peers does not change significantly."
        [ steps [ peers.fetch ], steps [ peers.send ], steps [ peers.adoption ] ]

let endToEnd =
      O.group
        "End-to-end propagation"
        "Adoption times do not change significantly."
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

let rest = \(text : Text) -> \(g : O.Group) -> g // { rest = text }

in  S.Observations::{
    , groups =
      [ resources
      , rest "No significant change: {name}." loop
      , rest "No significant change: {name}." propagating
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
