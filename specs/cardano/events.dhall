-- The trace events that metrics use, with their names in three generations of the tracing system.
let S = ../schema/package.dhall

let map = ../Prelude/List/map.dhall

let E = S.event

let U = S.unit

let D = ./units.dhall

let source = (./source.dhall).logs.name

let names = \(generation : Text) -> map Text E.Name (\(name : Text) -> { generation, name })

let form =
      \(new : List Text) ->
      \(middle : List Text) ->
      \(legacy : List Text) ->
      \(fields : List S.Field) ->
          { names = names "new" new # names "middle" middle # names "legacy" legacy, unless = [] : List E.Unless, fields }
        : E.Form

let same = \(name : Text) -> form [ name ] [ name ] [ name ]

let event = \(name : Text) -> \(doc : Text) -> \(forms : List E.Form) -> { name, source, forms, doc } : S.Event

-- The fields that instants and grains refer to.
let slot = E.inUnit D.slot (E.integer "slot")

let block = E.text "block"

let blockNo = E.inUnit D.block (E.atAny [ [ "blockNo", "unBlockNo" ], [ "blockNo" ] ] (E.integer "block_no"))

let blockPrev = E.at [ "blockPrev" ] (E.text "block_prev")

let utxoSize = E.gauge (E.at [ "utxoSize" ] (E.integer "utxo_size"))

let chainDensity = E.at [ "chainDensity" ] (E.real "chain_density")

let leader = E.boolean "leader"

let length = E.inUnit D.block (E.integer "length")

let chainDelta = E.inUnit D.block (E.at [ "chainLengthDelta" ] (E.integer "chain_delta"))

let size = E.inUnit U.byte (E.at [ "blockSize" ] (E.integer "size"))

let field =
      { slot
      , block
      , blockNo
      , blockPrev
      , utxoSize
      , chainDensity
      , leader
      , length
      , chainDelta
      , size
      , centiCpu = E.counter (E.at [ "CentiCpu" ] (E.unsigned "centi_cpu"))
      , centiGc = E.counter (E.at [ "CentiGC" ] (E.unsigned "centi_gc"))
      , centiMut = E.counter (E.at [ "CentiMut" ] (E.unsigned "centi_mut"))
      , centiBlkIo = E.counter (E.at [ "CentiBlkIO" ] (E.unsigned "centi_blk_io"))
      , gcsMajor = E.counter (E.inUnit U.event (E.at [ "GcsMajor" ] (E.unsigned "gcs_major")))
      , gcsMinor = E.counter (E.inUnit U.event (E.at [ "GcsMinor" ] (E.unsigned "gcs_minor")))
      , alloc = E.counter (E.inUnit U.byte (E.at [ "Alloc" ] (E.unsigned "alloc")))
      , netRd = E.otherwise "0" (E.counter (E.inUnit U.byte (E.at [ "NetRd" ] (E.unsigned "net_rd"))))
      , netWr = E.otherwise "0" (E.counter (E.inUnit U.byte (E.at [ "NetWr" ] (E.unsigned "net_wr"))))
      , fsRd = E.otherwise "0" (E.counter (E.inUnit U.byte (E.at [ "FsRd" ] (E.unsigned "fs_rd"))))
      , fsWr = E.otherwise "0" (E.counter (E.inUnit U.byte (E.at [ "FsWr" ] (E.unsigned "fs_wr"))))
      , rss = E.gauge (E.inUnit U.byte (E.at [ "RSS" ] (E.unsigned "rss")))
      , heap = E.otherwise "0" (E.gauge (E.inUnit U.byte (E.at [ "Heap" ] (E.unsigned "heap"))))
      , live = E.gauge (E.inUnit U.byte (E.at [ "Live" ] (E.unsigned "live")))
      , threads = E.gauge (E.at [ "Threads" ] (E.unsigned "threads"))
      , txIds = E.at [ "txIds" ] (E.text "tx_ids")
      , count = E.inUnit D.transaction (E.integer "count")
      , accepted = E.inUnit D.transaction (E.integer "accepted")
      , rejected = E.inUnit D.transaction (E.integer "rejected")
      , mempoolTxs = E.inUnit D.transaction (E.at [ "mempoolSize", "numTxs" ] (E.integer "mempool_txs"))
      , txsSent = E.inUnit D.transaction (E.at [ "summary", "ssTxSent" ] (E.integer "txs_sent"))
      , elapsed = E.at [ "summary", "ssElapsed" ] (E.real "elapsed")
      , threadwiseTps = E.at [ "summary", "ssThreadwiseTps" ] (E.text "threadwise_tps")
      , failures = E.at [ "summary", "ssFailures" ] (E.text "failures")
      , edge = E.optional (E.at [ "enclosedTime", "tag" ] (E.text "edge"))
      , enclosed =
          E.optional (E.inUnit U.second (E.at [ "enclosedTime", "contents" ] (E.real "enclosed")))
      , dropped = E.at [ "name" ] (E.text "dropped")
      , numSuppressed = E.optional (E.at [ "numSuppressed" ] (E.integer "number"))
      }

-- In a block context, the slot has a key of two words, and the block number counts from 1, elsewhere from 0.
let contextSlot = E.at [ "current slot" ] slot

let contextBlockNo =
      E.inUnit D.block (E.changed [ E.plus -1 ] (E.at [ "tipBlockNo" ] (E.integer "block_no")))

let hashAt = \(path : Text) -> E.at [ path ] block

let hashOf = \(paths : List (List Text)) -> E.changed [ E.take +64 ] (E.atAny paths block)

-- An update of the header server that ends something or rolls back is not an announcement.
let announcement =
      { unless =
        [ E.is [ "risingEdge" ] "false", E.is [ "blockingRead" ] "false", E.has [ "rollBackTo" ] ]
      }

in  { field
    , resources =
        event
          "resources"
          "Resource usage of the process: counters since its start, and gauges"
          [ same
              "Resources"
              [ field.centiCpu
              , field.centiGc
              , field.centiMut
              , field.centiBlkIo
              , field.gcsMajor
              , field.gcsMinor
              , field.alloc
              , field.netRd
              , field.netWr
              , field.fsRd
              , field.fsWr
              , field.rss
              , field.heap
              , field.live
              , field.threads
              ]
          ]
    , leadershipCheckStarted =
        event
          "leadership_check_started"
          "The forge loop started for a slot"
          [ form
              [ "Forge.Loop.StartLeadershipCheck" ]
              [ "Forge.Loop.StartLeadershipCheckPlus" ]
              [ "TraceStartLeadershipCheck" ]
              [ slot, E.otherwise "0" utxoSize, E.otherwise "0" chainDensity ]
          ]
    , blockContext =
        event
          "block_context"
          "The forge loop acquired the block context"
          [ form
              [ "Forge.Loop.BlockContext" ]
              [ "Forge.BlockContext" ]
              [ "TraceBlockContext" ]
              [ contextSlot, contextBlockNo ]
          ]
    , ledgerState =
        event
          "ledger_state"
          "The forge loop acquired the ledger state"
          [ form [ "Forge.Loop.LedgerState" ] [ "Forge.LedgerState" ] [ "TraceLedgerState" ] [ slot ] ]
    , ledgerView =
        event
          "ledger_view"
          "The forge loop acquired the ledger view"
          [ form [ "Forge.Loop.LedgerView" ] [ "Forge.LedgerView" ] [ "TraceLedgerView" ] [ slot ] ]
    , leadershipDecided =
        event
          "leadership_decided"
          "The host decided whether it is a leader of the slot"
          [ form
              [ "Forge.Loop.NodeIsLeader" ]
              [ "Forge.NodeIsLeader" ]
              [ "TraceNodeIsLeader" ]
              [ slot, E.always "true" leader ]
          , form
              [ "Forge.Loop.NodeNotLeader" ]
              [ "Forge.NodeNotLeader" ]
              [ "TraceNodeNotLeader" ]
              [ slot, E.always "false" leader ]
          ]
    , ledgerTicked =
        event
          "ledger_ticked"
          "The ledger state was ticked to the slot"
          [ form
              [ "Forge.Loop.ForgeTickedLedgerState", "Forge.Loop.TickedLedgerState" ]
              [ "Forge.TickedLedgerState" ]
              [ "TraceForgeTickedLedgerState" ]
              [ slot ]
          ]
    , mempoolSnapshot =
        event
          "mempool_snapshot"
          "The forge loop took a mempool snapshot"
          [ form
              [ "Forge.Loop.ForgingMempoolSnapshot", "Forge.Loop.MempoolSnapshot" ]
              [ "Forge.MempoolSnapshot" ]
              [ "TraceForgingMempoolSnapshot" ]
              [ slot ]
          ]
    , blockForged =
        event
          "block_forged"
          "The host forged a block"
          [ form
              [ "Forge.Loop.ForgedBlock" ]
              [ "Forge.ForgedBlock" ]
              [ "TraceForgedBlock" ]
              [ slot, blockNo, block, blockPrev ]
          ]
    , headerSeen =
        event
          "header_seen"
          "The host downloaded a block header from a peer"
          [ form
              [ "ChainSync.Client.DownloadedHeader" ]
              [ "ChainSyncClient.ChainSyncClientEvent.DownloadedHeader" ]
              [ "ChainSyncClientEvent.TraceDownloadedHeader" ]
              [ slot, blockNo, block ]
          ]
    , fetchRequested =
        event
          "fetch_requested"
          "The host requested blocks from a peer"
          [ form
              [ "BlockFetch.Client.SendFetchRequest" ]
              [ "BlockFetchClient.SendFetchRequest" ]
              [ "SendFetchRequest" ]
              [ hashAt "head", length ]
          ]
    , fetchCompleted =
        event
          "fetch_completed"
          "The host fetched a block from a peer"
          [ form
              [ "BlockFetch.Client.CompletedBlockFetch" ]
              [ "BlockFetchClient.CompletedBlockFetch" ]
              [ "CompletedBlockFetch" ]
              [ block ]
          ]
    , headerAnnounced =
        event
          "header_announced"
          "The host announced a header to a peer"
          [     form
                  [ "ChainSync.ServerHeader.Update" ]
                  [ "ChainSyncServerEvent.TraceChainSyncServerUpdate" ]
                  [ "ChainSyncServerEvent.TraceChainSyncServerReadBlocked.AddBlock" ]
                  [ hashOf [ [ "addBlock" ], [ "block" ] ] ]
            //  announcement
          , form
              ([] : List Text)
              ([] : List Text)
              [ "ChainSyncServerEvent.TraceChainSyncServerRead.AddBlock" ]
              [ block ]
          ]
    , blockSent =
        event
          "block_sent"
          "The host started to send a block to a peer"
          [ form
              [ "BlockFetch.Server.SendBlock" ]
              [ "BlockFetchServer.SendBlock" ]
              [ "TraceBlockFetchServerSendBlock" ]
              [ block ]
          ]
    , blockAdopted =
        event
          "block_adopted"
          "The host adopted a block as the tip of its chain; the forger also logs its size"
          [ form
              [ "ChainDB.AddBlockEvent.AddedToCurrentChain" ]
              [ "ChainDB.AddBlockEvent.AddedToCurrentChain" ]
              [ "TraceAddBlockEvent.AddedToCurrentChain" ]
              [ hashOf [ [ "newtip" ] ], E.otherwise "1" chainDelta, E.never size ]
          , form
              [ "Forge.Loop.AdoptedBlock" ]
              [ "Forge.AdoptedBlock" ]
              [ "TraceAdoptedBlock" ]
              [ hashAt "blockHash", E.always "1" chainDelta, size ]
          ]
    , forkSwitched =
        event
          "fork_switched"
          "The host switched to another fork with this block as its tip; no metric counts this as an adoption"
          [ form
              [ "ChainDB.AddBlockEvent.SwitchedToAFork" ]
              [ "ChainDB.AddBlockEvent.SwitchedToAFork" ]
              [ "TraceAddBlockEvent.SwitchedToAFork" ]
              [ hashOf [ [ "newtip" ] ] ]
          ]
    , ledgerSnapshot =
        event
          "ledger_snapshot"
          "The host begins or ends to write a snapshot of the ledger to disk; older versions log one of both"
          [ form
              [ "ChainDB.LedgerEvent.Snapshot.TookSnapshot", "ChainDB.LedgerEvent.TookSnapshot" ]
              [ "TraceLedgerEvent.TookSnapshot" ]
              [ "TraceSnapshotEvent.TookSnapshot" ]
              [ field.edge, field.enclosed ]
          ]
    , ledgerMetrics =
        event
          "ledger_metrics"
          "Chain density and UTxO size at a slot"
          [ same "LedgerMetrics" [ slot, utxoSize, chainDensity ] ]
    , recordsLimited =
        event
          "records_limited"
          "The tracing system starts or stops dropping records of a name"
          [ form
              [ "Reflection.StartLimiting", "Reflection.StopLimiting", "StartLimiting", "StopLimiting" ]
              [ "Reflection.StartLimiting", "Reflection.StopLimiting", "StartLimiting", "StopLimiting" ]
              ([] : List Text)
              [ field.dropped, field.numSuppressed ]
          ]
    , txsAcked =
        event "txs_acked" "The generator received acknowledgements of submitted transactions" [ same "TraceBenchTxSubServAck" [ field.txIds ] ]
    , txsCollected =
        event
          "txs_collected"
          "The host collected transactions that a peer offered"
          [ form
              [ "TxSubmission.TxInbound.Collected" ]
              [ "TraceTxSubmissionCollected" ]
              [ "TraceTxSubmissionCollected" ]
              [ field.count ]
          ]
    , txsProcessed =
        event
          "txs_processed"
          "The host processed transactions of a peer: accepted or rejected"
          [ form
              [ "TxSubmission.TxInbound.Processed" ]
              [ "TraceTxSubmissionProcessed" ]
              [ "TraceTxSubmissionProcessed" ]
              [ field.accepted, field.rejected ]
          ]
    , mempoolSize =
        event
          "mempool_size"
          "The size of the mempool changed"
          [ form
              [ "Mempool.AddedTx", "Mempool.RemoveTxs" ]
              [ "Mempool.AddedTx", "Mempool.RemoveTxs" ]
              [ "TraceMempoolAddedTx", "TraceMempoolRemoveTxs" ]
              [ field.mempoolTxs ]
          ]
    , txRejected =
        event
          "tx_rejected"
          "The mempool rejected a transaction"
          [ form [ "Mempool.RejectedTx" ] [ "Mempool.RejectedTx" ] [ "TraceMempoolRejectedTx" ] ([] : List S.Field) ]
    , generatorSummary =
        event
          "generator_summary"
          "The generator logged its summary"
          [ form
              [ "Benchmark.BenchTxSubSummary" ]
              [ "TraceBenchTxSubSummary" ]
              [ "TraceBenchTxSubSummary" ]
              [ field.txsSent, field.elapsed, field.threadwiseTps, field.failures ]
          ]
    }
