-- Listings of blocks: the analysed chain, and the blocks that the filters reject.
let S = ../schema/package.dhall

let B = S.block

let block = ./grains/block.dhall

let c = (./relations.dhall).column

let forging = ./metrics/forging.dhall

let peers = ./metrics/peers.dhall

let propagation = ./metrics/propagation.dhall

let anomaly = ./metrics/anomaly.dhall

let steps = ./metrics/steps.dhall

let adoption = [ propagation.half, propagation.eighty, propagation.ninetySix, propagation.all ]

let completeness = [ anomaly.battles, anomaly.size, steps.incomplete, steps.early ]

let slowest = \(l : B.Listing) -> B.withFiles (B.most propagation.all l)

in  { analysed =
        slowest
          ( B.listing
              "Analysed blocks"
              block.grain
              [ c.blockNo, c.slot, c.forger, c.block ]
              (   adoption
                # completeness
                # [ forging.start
                  , forging.blockContext
                  , forging.ledgerState
                  , forging.ledgerView
                  , forging.lead
                  , forging.ticked
                  , forging.snapshot
                  , forging.forge
                  , forging.announce
                  , forging.send
                  , forging.adoption
                  , peers.noticeFirst
                  , peers.fetchFirst
                  , peers.request
                  , peers.fetch
                  , peers.announce
                  , peers.send
                  , peers.adoption
                  ]
              )
          )
    , rejected =
        slowest
          ( B.rejected
              ( B.listing
                  "Rejected blocks"
                  block.grain
                  [ c.blockNo, c.slot, c.forger, c.block ]
                  (adoption # completeness)
              )
          )
    }
