-- The logs of a benchmark run in the layout of the workbench, and the facts of the run.
let S = ../schema/package.dhall

let U = S.unit

let D = ./units.dhall

-- As in locli's wrapper, the folder of the newer workbench layout takes precedence over the file of the older one.
let genesis = [ "genesis/genesis.shelley.json", "genesis-shelley.json" ]

let meta = [ "meta.json" ]

let ofGenesis =
      \(name : Text) -> \(path : List Text) -> \(type : Text) -> \(doc : Text) ->
        S.Constant::{ name, files = genesis, path, type, doc }

let ofMeta =
      \(name : Text) -> \(path : List Text) -> \(type : Text) -> \(doc : Text) ->
        S.Constant::{ name, files = meta, path = [ "meta" ] # path, type, doc }

let ofComponent = \(component : Text) -> \(fact : Text) -> [ "manifest", component, fact ]

let component =
      \(key : Text) -> \(component : Text) -> \(fact : Text) ->
        ofMeta key (ofComponent component fact) "text" "${fact} of ${component}"
        // { default = Some "unknown" }

-- Manifests of old runs have only the commit of a component, under the name `formerly`.
let commit =
      \(key : Text) -> \(name : Text) -> \(formerly : Text) ->
        component key name "commit" // { orAt = [ [ "meta", "manifest", formerly ] ] }

let ofWorkload =
      \(name : Text) -> \(path : List Text) -> \(type : Text) -> \(doc : Text) ->
        ofMeta name ([ "profile_content" ] # path) type doc

let constant =
      { systemStart = ofGenesis "system_start" [ "systemStart" ] "instant" "Start of slot 0"
      , slotLength =
              ofGenesis "slot_length" [ "slotLength" ] "duration" "Length of a slot"
          //  { unit = D.secondPerSlot }
      , epochLength = ofGenesis "epoch_length" [ "epochLength" ] "integer" "Slots per epoch" // { unit = D.slot, positive = True }
      , securityParameter =
              ofGenesis "security_parameter" [ "securityParam" ] "integer" "k: maximum number of blocks that can be rolled back"
          //  { unit = D.block, positive = True }
      , activeSlots =
          ofGenesis "active_slots" [ "activeSlotsCoeff" ] "real" "f: share of slots with a leader"
          //  { positive = True }
      , maxBlockBodySize =
              ofGenesis "max_block_body_size" [ "protocolParams", "maxBlockBodySize" ] "integer" "Maximum size of a block body"
          //  { unit = U.byte, positive = True }
      , tag = ofMeta "tag" [ "tag" ] "text" "Tag of the run" // { default = Some "" }
      , batch = ofMeta "batch" [ "batch" ] "text" "Batch of the run"
      -- By default, the workbench writes no ident.
      , ident =
              ofMeta "ident" [ "ident" ] "text" "Name of the run in reports"
          //  { orAt = [ [ "meta" ] # ofComponent "cardano-node" "version" ], default = Some "unknown" }
      , ghcVersion = ofMeta "ghc_version" [ "node_ghc_version" ] "text" "Version of the compiler" // { default = Some "unknown" }
      , era =
              ofMeta "era" [ "era" ] "text" "Era of the ledger"
          //  { orAt = [ [ "meta", "profile_content", "era" ], [ "meta", "profile_content", "generator", "era" ] ] }
      , delegators = ofWorkload "delegators" [ "genesis", "delegators" ] "integer" "Delegators in the genesis"
      , utxo = ofWorkload "utxo" [ "genesis", "utxo" ] "integer" "UTxO entries in the genesis"
      , dreps =
          ofWorkload "dreps" [ "genesis", "dreps" ] "integer" "DReps in the genesis" // { default = Some "0" }
      , addTxSize =
          ofWorkload "add_tx_size" [ "generator", "add_tx_size" ] "integer" "Extra bytes per transaction" // { unit = U.byte }
      , inputsPerTx = ofWorkload "inputs_per_tx" [ "generator", "inputs_per_tx" ] "integer" "Inputs per transaction"
      , outputsPerTx = ofWorkload "outputs_per_tx" [ "generator", "outputs_per_tx" ] "integer" "Outputs per transaction"
      , tps = ofWorkload "tps" [ "generator", "tps" ] "real" "Submitted transactions per second"
      , txCount =
          ofWorkload "tx_count" [ "generator", "tx_count" ] "integer" "Submitted transactions" // { unit = D.transaction }
      , plutusType =
              ofWorkload "plutus_type" [ "generator", "plutus", "type" ] "text" "Kind of Plutus workload, if any"
          //  { default = Some "" }
      , plutusScript =
              ofWorkload "plutus_script" [ "generator", "plutus", "script" ] "text" "Plutus script of the workload, if any"
          //  { default = Some "" }
      , plutusMode =
              ofWorkload "plutus_mode" [ "generator", "plutusMode" ] "boolean" "Whether transactions run Plutus scripts (old profiles)"
          //  { default = Some "false" }
      , plutusAutoMode =
              ofWorkload "plutus_auto_mode" [ "generator", "plutusAutoMode" ] "boolean" "Whether these scripts are the loop script (old profiles)"
          //  { default = Some "false" }
      , nodeVersion = component "node_version" "cardano-node" "version"
      , consensusVersion = component "consensus_version" "ouroboros-consensus" "version"
      , networkVersion = component "network_version" "ouroboros-network" "version"
      , ledgerVersion = component "ledger_version" "cardano-ledger-core" "version"
      , plutusVersion = component "plutus_version" "plutus-core" "version"
      , cryptoVersion = component "crypto_version" "cardano-crypto" "version"
      , preludeVersion = component "prelude_version" "cardano-prelude" "version"
      , nodeCommit = commit "node_commit" "cardano-node" "cardano-node"
      , consensusCommit = commit "consensus_commit" "ouroboros-consensus" "ouroboros-network"
      , networkCommit = commit "network_commit" "ouroboros-network" "ouroboros-network"
      , ledgerCommit = commit "ledger_commit" "cardano-ledger-core" "cardano-ledger"
      , plutusCommit = commit "plutus_commit" "plutus-core" "plutus"
      , cryptoCommit = commit "crypto_commit" "cardano-crypto" "cardano-crypto"
      , preludeCommit = commit "prelude_commit" "cardano-prelude" "cardano-prelude"
      }

let logs =
      S.Source::{
      , name = "workbench_logs"
      , hosts = "node-*"
      , logs = [ "stdout", "stdout*", "node-*.json" ]
      , time = [ "at" ]
      , body = [ "data" ]
      , unwrap = [ { absent = "kind", present = [ "credentials", "val" ], take = "val" } ]
      , lookups =
        [ { path = [ "ns" ], inBody = False, drop = "Cardano.Node.", generation = "new" }
        , { path = [ "ns" ], inBody = False, drop = "Cardano.Node.", generation = "middle" }
        , { path = [ "kind" ], inBody = True, drop = "Cardano.Node.", generation = "middle" }
        , { path = [ "kind" ], inBody = True, drop = "", generation = "legacy" }
        ]
      , ignored =
        [ "BlockFetch.Client.AcknowledgedFetchRequest"
        , "BlockFetch.Client.AddedFetchRequest"
        , "BlockFetch.Client.StartedFetchBatch"
        , "BlockFetch.Decision.*"
        , "BlockFetch.Remote.*"
        , "BlockchainTime.*"
        , "ChainDB.FollowerEvent.*"
        , "ChainDB.GCEvent.*"
        , "ChainDB.ImmDbEvent.*"
        , "ChainDB.InitChainSelEvent.*"
        , "ChainDB.IteratorEvent.*"
        , "ChainDB.OpenEvent.*"
        , "ChainDB.VolatileDbEvent.*"
        , "ChainSync.Local.*"
        , "ChainSync.Remote.*"
        , "Net.*"
        , "NodeState.*"
        , "Shutdown.*"
        , "Startup.*"
        , "StateQueryServer.*"
        , "TxSubmission.Local*"
        , "TxSubmission.MonitorClient.*"
        , "TxSubmission.Remote.*"
        , "cardano.node.BlockFetch"
        ]
      , constants =
        [ constant.systemStart
        , constant.slotLength
        , constant.epochLength
        , constant.securityParameter
        , constant.activeSlots
        , constant.maxBlockBodySize
        , constant.tag
        , constant.batch
        , constant.ident
        , constant.ghcVersion
        , constant.era
        , constant.delegators
        , constant.utxo
        , constant.dreps
        , constant.addTxSize
        , constant.inputsPerTx
        , constant.outputsPerTx
        , constant.tps
        , constant.txCount
        , constant.plutusType
        , constant.plutusScript
        , constant.plutusMode
        , constant.plutusAutoMode
        , constant.nodeVersion
        , constant.consensusVersion
        , constant.networkVersion
        , constant.ledgerVersion
        , constant.plutusVersion
        , constant.cryptoVersion
        , constant.preludeVersion
        , constant.nodeCommit
        , constant.consensusCommit
        , constant.networkCommit
        , constant.ledgerCommit
        , constant.plutusCommit
        , constant.cryptoCommit
        , constant.preludeCommit
        ]
      , doc = "Logs of the nodes of a cluster: one JSON object per line, one directory per host"
      }

in  { logs, constant }
