-- Units of this domain.
let S = ../schema/package.dhall

let unit = S.unit.unit

in  { block = unit "block" "blocks"
    , blockPerMinute = unit "block / minute" "blocks/min"
    , transaction = unit "transaction" "tx"
    , transactionPerSecond = unit "transaction / second" "tx/s"
    , transactionPerMinute = unit "transaction / minute" "tx/min"
    , peer = unit "peer" "peers"
    , round = unit "round" "rounds"
    , roundNumber = unit "round" ""
    , connection = unit "connection" "connections"
    , number = unit "count" ""
    , base =
          [ { name = "block", doc = "A block of the chain" }
          , { name = "transaction", doc = "A transaction" }
          , { name = "peer", doc = "A peer of a node" }
          , { name = "round", doc = "A round of consensus" }
          , { name = "connection", doc = "A connection of the load tool" }
          ]
        : List S.BaseUnit
    }
