-- Units of this domain. Each base unit converts into no other.
let S = ../schema/package.dhall

let unit = S.unit.unit

in  { slot = unit "slot" "slots"
    , block = unit "block" "blocks"
    , transaction = unit "transaction" "tx"
    , epoch = unit "epoch" "epochs"
    , secondPerSlot = unit "second / slot" "s"
    , base =
          [ { name = "slot", doc = "A slot: the unit of the leadership schedule" }
          , { name = "block", doc = "A block of the chain" }
          , { name = "transaction", doc = "A transaction" }
          , { name = "epoch", doc = "An epoch: a fixed number of slots" }
          ]
        : List S.BaseUnit
    }
