-- Grains: an analysed block, a pair of them, and the rows that sum up a node or a run.
let S = ../../schema/package.dhall

let r = ./relations.dhall

let grain =
      \(name : Text) -> \(relation : S.Relation.Type) -> \(doc : Text) ->
        S.Grain::{ name, relation = relation.name, key = relation.key, columns = relation.columns, doc }

in  { pair = grain "pair" r.pairs "Two adjacent blocks of the window"
    , windowBlock = grain "window_block" r.windowBlocks "An analysed block"
    , run = grain "run_guide" r.guide "The blocks of a run, as the observing node tells them"
    , tps = grain "run_tps" r.tps "Transactions a second of a run"
    , blockStatistics = grain "run_blocks" r.blockStatistics "What the analysed blocks of a run take"
    , productionWindows = grain "run_windows" r.productionWindows "Turns of the producers of a run"
    , node = grain "node" r.nodes "A node of a run"
    , verdict = grain "run_verdict" r.verdict "The verdict on a run"
    , transactions = grain "run_transactions" r.transactionStatistics "What the transactions of a run take"
    }
