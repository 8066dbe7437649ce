-- The rows of the manifest (run parameters), in the current and in earlier editions of the report.
let S = ../schema/package.dhall

let R = S.report

let c = (./source.dhall).constant

let relations = ./relations.dhall

let f = relations.figures

-- Compatibility: published texts lose trailing letters s, because the unit of durations is removed from them.
let published = R.unsuffixed

let identity =
      [ R.analysisDate "Analysis date"
      , R.fact "Cluster system start date" c.systemStart R.date // { id = "start_date" }
      , R.fact "Cluster system start time" c.systemStart R.time // { id = "start_time" }
      , R.fact "Identifier" c.ident (published 32)
      , R.fact "Run batch" c.batch (published 32)
      , R.fact "GHC version" c.ghcVersion (published 32)
      , R.fact "cardano-node version" c.nodeVersion (published 12)
      , R.fact "ouroboros-consensus version" c.consensusVersion (published 12)
      , R.fact "ouroboros-network version" c.networkVersion (published 12)
      , R.fact "cardano-ledger-core version" c.ledgerVersion (published 12)
      , R.fact "plutus-core version" c.plutusVersion (published 12)
      , R.fact "cardano-crypto version" c.cryptoVersion (published 12)
      , R.fact "cardano-prelude version" c.preludeVersion (published 12)
      , R.fact "cardano-node git" c.nodeCommit (published 7)
      , R.fact "ouroboros-consensus git" c.consensusCommit (published 7)
      , R.fact "ouroboros-network git" c.networkCommit (published 7)
      , R.fact "cardano-ledger-core git" c.ledgerCommit (published 7)
      , R.fact "plutus-core git" c.plutusCommit (published 7)
      , R.fact "cardano-crypto git" c.cryptoCommit (published 7)
      , R.fact "cardano-prelude git" c.preludeCommit (published 7)
      , R.fact "Era" c.era (published 32)
      , R.fact "Delegation map size" c.delegators R.integer
      ]

-- The values of a relation: of the logs alone, or of the whole run.
let figuresOf =
      \(relation : S.Relation.Type) ->
        let figure = \(label : Text) -> R.figure label relation

        in  { load =
              [ R.fact "Extra tx payload" c.addTxSize R.integer
              , R.fact "Tx inputs" c.inputsPerTx R.integer
              , R.fact "Tx Outputs" c.outputsPerTx R.integer
              , R.fact "TPS" c.tps (R.real 7)
              , R.fact "Transaction count" c.txCount R.integer
              , figure "Plutus script" f.plutusScript (R.unsuffixedOr "---" 32)
              , figure "Machines" f.machines R.integer
              , R.filtersApplied "Number of filters applied"
              ]
            , logs =
              [ figure "Log objects emitted per host" f.objectsPerHost (R.real 12)
              , figure "Log objects analysed per host" f.recognisedPerHost (R.real 12)
              , figure "Host run time, s" f.hostRunTime (R.real 7)
              , figure "Host log line rate, Hz" f.lineRate (R.real 6)
              , figure "Total log objects analysed" f.recognisedTotal R.integer
              , figure "Run time, s" f.runTime R.integer
              , figure "Analysed run duration, s" f.analysedTime R.integer
              , figure "Run time efficiency" f.efficiency (R.real 4)
              , figure "Node start spread, s" f.startSpread (R.spread 9)
              , figure "Node stop spread, s" f.stopSpread (R.spread 9)
              ]
            , slots = [ figure "Slots analysed" f.slotsAnalysed R.integer ]
            }

let whole = figuresOf relations.runSummary

let ofLogs = figuresOf relations.logSummary

let load = whole.load

let logs = whole.logs

let outcome =
        whole.slots
      # [ R.figure "Blocks analysed" relations.runSummary f.blocksAnalysed R.integer
        , R.figure "Blocks rejected" relations.runSummary f.blocksRejected R.integer
        ]

let utxo = \(label : Text) -> [ R.fact label c.utxo R.integer ]

let dreps = [ R.fact "DRep count" c.dreps R.integer ]

-- Rows whose values are no longer in the logs.
let textLines = [ { id = "text_lines", label = "Log text lines emitted per host" } ]

let analysisSpreads =
      [ { id = "analysis_start_spread", label = "Perf analysis start spread, s" }
      , { id = "analysis_stop_spread", label = "Perf analysis stop spread, s" }
      ]

let none = [] : List R.RowLabel

let current = identity # utxo "Stuffed UTxO size" # dreps # load # logs # outcome

let performance = identity # utxo "Stuffed UTxO size" # dreps # ofLogs.load # ofLogs.logs # ofLogs.slots

let former =
      \(m : { dreps : List R.ManifestRow, textLines : List R.RowLabel, analysisSpreads : List R.RowLabel }) ->
          R.rowLabels (identity # utxo "Starting UTxO set size" # m.dreps # load)
        # m.textLines
        # R.rowLabels logs
        # m.analysisSpreads
        # R.rowLabels outcome

in  { current
    , performance
    , since2023 = former { dreps = [] : List R.ManifestRow, textLines, analysisSpreads }
    , since2024 = former { dreps, textLines, analysisSpreads }
    , since2025 = former { dreps, textLines = none, analysisSpreads = none }
    , sinceFebruary2025 = R.rowLabels current
    }
