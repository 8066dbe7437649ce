-- Grains: an analysed block, a pair of blocks, and one row per node or run.
let S = ../../schema/package.dhall

let r = ./relations.dhall

let grain =
      \(name : Text) -> \(relation : S.Relation.Type) -> \(doc : Text) ->
        S.Grain::{ name, relation = relation.name, key = relation.key, columns = relation.columns, doc }

let timed = { time = r.column.sinceStart.name }

in  { pair = grain "pair" r.pairs "Two adjacent blocks of the analysis window" // timed
    , windowBlock = grain "window_block" r.windowBlocks "An analysed block" // timed
    , run = grain "run_guide" r.guide "Block counts of a run, from the log of the observer"
    , tps = grain "run_tps" r.tps "Transactions per second of a run"
    , blockStatistics = grain "run_blocks" r.blockStatistics "Statistics of the analysed blocks of a run"
    , productionWindows = grain "run_windows" r.productionWindows "Production windows of a run"
    , node = grain "node" r.nodes "A node of a run"
    , verdict = grain "run_verdict" r.verdict "Verdict on a run"
    , transactions = grain "run_transactions" r.transactionStatistics "Statistics of the transactions of a run"
    }
