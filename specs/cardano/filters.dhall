-- Filters: which blocks, and which slots of hosts, are analysed.
let S = ../schema/package.dhall

let X = S.x

let U = S.unit

let D = ./units.dhall

let of = S.source.constant

let constant = (./source.dhall).constant

let block = ./grains/block.dhall

let slot = ./grains/slot.dhall

let M = S.metric

let n = \(unit : U.Unit) -> { name = "n", type = "integer", unit } : M.Parameter

let share = { name = "x", type = "real", unit = U.none } : M.Parameter

let parameterOf = M.parameter

let onBlocks =
      \(name : Text) ->
      \(doc : Text) ->
      \(parameter : Optional M.Parameter) ->
      \(holds : S.Expression) ->
        S.Filter::{ name, doc, parameter, conditions = [ { grain = block.name, holds } ] }

-- A condition on slots applies to the blocks of these slots, and to the slots of hosts.
let onBoth =
      \(name : Text) ->
      \(doc : Text) ->
      \(unit : U.Unit) ->
      \(holds : S.Expression -> S.Expression -> S.Expression) ->
      \(ofBlock : S.Column) ->
      \(ofSlot : S.Column) ->
        S.Filter::{
        , name
        , doc
        , parameter = Some (n unit)
        , conditions =
          [ { grain = block.name, holds = holds (X.column ofBlock) (parameterOf (n unit)) }
          , { grain = slot.name, holds = holds (X.column ofSlot) (parameterOf (n unit)) }
          ]
        }

let c = slot.column

-- Compatibility: as in the published filters, sizes are compared with the share of the limit, truncated to whole bytes.
-- A block of exactly that size is neither above nor below.
let fullness = X.floor (X.times (parameterOf share) (of constant.maxBlockBodySize))

in  { unitary =
        onBlocks
          "unitary"
          "The block extended its forger's chain by exactly one block"
          (None M.Parameter)
          (X.equals block.chainDelta (X.asUnit D.block (X.natural 1)))
    , nonnegative =
        -- Compatibility: the published filter accepts no block.
        onBlocks "nonnegative" "Accepts no block" (None M.Parameter) X.no
    , minAdoptions =
        onBlocks
          "min-adoptions"
          "At least n observers adopted the block"
          (Some (n U.none))
          (X.atLeast (X.column block.adoptingObservers) (parameterOf (n U.none)))
    , sizeGeq =
        onBlocks
          "size-geq"
          "The block has at least n bytes"
          (Some (n U.byte))
          (X.atLeast (X.column block.size) (parameterOf (n U.byte)))
    , sizeLeq =
        onBlocks
          "size-leq"
          "The block has at most n bytes"
          (Some (n U.byte))
          (X.atMost (X.column block.size) (parameterOf (n U.byte)))
    , fullnessAbove =
        onBlocks
          "fullness-above"
          "The block's size is above the share x of the limit"
          (Some share)
          (X.above (X.column block.size) fullness)
    , fullnessBelow =
        onBlocks
          "fullness-below"
          "The block's size is below the share x of the limit"
          (Some share)
          (X.below (X.column block.size) fullness)
    , slotGeq = onBoth "slot-geq" "Slot n or later" D.slot X.atLeast block.slot c.slot
    , slotLeq = onBoth "slot-leq" "Slot n or earlier" D.slot X.atMost block.slot c.slot
    , epochGeq = onBoth "epoch-geq" "Epoch n or later" D.epoch X.atLeast block.epoch c.epoch
    , epochLeq = onBoth "epoch-leq" "Epoch n or earlier" D.epoch X.atMost block.epoch c.epoch
    , epochSlotGeq =
        onBoth "epoch-slot-geq" "From slot n of each epoch on" D.slot X.atLeast block.epochSlot c.trueEpochSlot
    , epochSlotLeq =
        onBoth "epoch-slot-leq" "Up to slot n of each epoch" D.slot X.atMost block.epochSlot c.trueEpochSlot
    , safeIntervalGeq =
        onBoth "safe-interval-geq" "Safe interval n or later" U.none X.atLeast block.safeInterval c.safeInterval
    , safeIntervalLeq =
        onBoth "safe-interval-leq" "Safe interval n or earlier" U.none X.atMost block.safeInterval c.safeInterval
    , slotHasLeaders =
        S.Filter::{
        , name = "slot-has-leaders"
        , doc = "The host was a leader of the slot; true for the slot of every block"
        , conditions =
          [ { grain = block.name, holds = X.yes }
          , { grain = slot.name, holds = X.atLeast (X.column slot.leads) (X.asUnit U.count (X.natural 1)) }
          ]
        }
    }
