-- Anomaly control: forged, chained and filtered blocks, battles, block sizes.
let S = ../../schema/package.dhall

let X = S.x

let U = S.unit

let D = ../units.dhall

let block = ../grains/block.dhall

let host = ../grains/forging_host.dhall

-- The columns already count filtered blocks, so the rows of these ratios are not filtered.
let ofHosts = { grain = host.name, accepted = False, width = 5 }

in  { blocksPerHost =
        S.Metric::( ofHosts /\
          { id = "cdfBlocksPerHost"
          , name = "Blocks per host"
          , doc = "For each host, number of blocks made during the entire observation period"
          , measure = X.column host.total
          , unit = D.block
          })
    , filteredRatio =
        S.Metric::( ofHosts /\
          { id = "cdfBlocksFilteredRatio"
          , name = "Filtered to chained blocks"
          , doc = "For each host, ratio of blocks that passed filtering / all on chain"
          , measure = X.over (X.column host.filtered) (X.column host.chained)
          , where = X.above (X.column host.chained) (X.asUnit D.block (X.natural 0))
          , unit = U.ratio
          , better = "higher"
          })
    , chainedRatio =
        S.Metric::( ofHosts /\
          { id = "cdfBlocksChainedRatio"
          , name = "Chained to forged blocks"
          , doc = "For each host, ratio of blocks that made into chain / all forged"
          , measure = X.over (X.column host.chained) (X.column host.total)
          , where = X.above (X.column host.total) (X.asUnit D.block (X.natural 0))
          , unit = U.ratio
          , better = "higher"
          })
    , battles =
        S.Metric::{
        , id = "cdfBlockBattle"
        , name = "Height & slot battles"
        , doc =
            "For a given block, number of all abandoned blocks at its block height. Sum of height and slot battles"
        , grain = block.name
        , measure = X.column block.battles
        , unit = D.block
        , better = "lower"
        }
    , size =
        S.Metric::{
        , id = "cdfBlockSize"
        , name = "Block size"
        , doc = "Block size, in bytes"
        , grain = block.name
        , measure = X.column block.size
        , unit = U.byte
        , width = 9
        }
    }
