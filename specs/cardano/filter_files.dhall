-- The filter files of the workbench (`analyse/chain-filters/*.json`), and the filters in the profile of a run.
let S = ../schema/package.dhall

let R = S.report

let f = ./filters.dhall

let block = \(tag : Text) -> R.tagged [ "CBlock", tag ]

let slot = \(tag : Text) -> R.tagged [ "CSlot", tag ]

let analysis =
      \(member : Text) ->
        [ { keys = [ "analysis", member ] }
        , { keys = [ "profile_content", "analysis", member ] }
        , { keys = [ "meta", "profile_content", "analysis", member ] }
        ]

let chainFilters =
      S.FilterFile::{
      , name = "chain-filters"
      , conditions =
        [ block "BUnitaryChainDelta" f.unitary
        , block "BNonNegatives" f.nonnegative
        , block "BMinimumAdoptions" f.minAdoptions
        , block "BSizeGEq" f.sizeGeq
        , block "BSizeLEq" f.sizeLeq
        , block "BFullnessGEq" f.fullnessAbove
        , block "BFullnessLEq" f.fullnessBelow
        , slot "SlotGEq" f.slotGeq
        , slot "SlotLEq" f.slotLeq
        , slot "EpochGEq" f.epochGeq
        , slot "EpochLEq" f.epochLeq
        , slot "EpSlotGEq" f.epochSlotGeq
        , slot "EpSlotLEq" f.epochSlotLeq
        , slot "EpochSafeIntGEq" f.safeIntervalGeq
        , slot "EpochSafeIntLEq" f.safeIntervalLeq
        , slot "SlotHasLeaders" f.slotHasLeaders
        ]
      , lists = analysis "filter_exprs"
      , names = analysis "filters"
      , files = [ "profile.json", "meta.json" ]
      , sets =
        [ { name = "unitary", filters = [ R.uses f.unitary ] }
        , { name = "nonnegative", filters = [ R.uses f.nonnegative ] }
        , { name = "model"
          , filters = [ R.usesWith f.slotLeq "56000", R.usesWith f.minAdoptions "50", R.uses f.unitary ]
          }
        , { name = "epoch4+", filters = [ R.usesWith f.epochGeq "3" ] }
        , { name = "epoch5+", filters = [ R.usesWith f.epochGeq "4" ] }
        , { name = "fromslot-20k", filters = [ R.usesWith f.slotGeq "20000" ] }
        , { name = "fromslot-26k", filters = [ R.usesWith f.slotGeq "263025" ] }
        , { name = "size-moderate"
          , filters = [ R.usesWith f.fullnessAbove "0.03", R.usesWith f.fullnessBelow "0.2" ]
          }
        , { name = "size-moderate-2"
          , filters = [ R.usesWith f.fullnessAbove "0.076", R.usesWith f.fullnessBelow "0.105" ]
          }
        ]
      }

in  { chainFilters }
