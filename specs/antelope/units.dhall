-- Units of this domain.
let S = ../schema/package.dhall

let unit = S.unit.unit

in  { block = unit "block" "blocks"
    , transaction = unit "transaction" "tx"
    , transactionPerSecond = unit "transaction / second" "tx/s"
    , window = unit "production_window" "windows"
    , blockPerWindow = unit "block / production_window" "blocks/window"
    , netWord = unit "net_word" "words"
    , peer = unit "peer" "peers"
    , microsecond = unit "microsecond" "µs"
    , base =
          [ { name = "block", doc = "A block of the chain" }
          , { name = "transaction", doc = "A transaction" }
          , { name = "peer", doc = "A peer of a node" }
          , { name = "production_window", doc = "A producer's consecutive blocks" }
          , { name = "net_word", doc = "The unit in which the net usage of transactions is billed: 8 bytes" }
          ]
        : List S.BaseUnit
    }
