-- Examples: small runs of a few lines, and the expected samples of each metric. All time differences are distinct, so
-- that no metric has the samples of another.
let S = ../schema/package.dhall

let Q = S.example

let forging = ./metrics/forging.dhall

let peers = ./metrics/peers.dhall

let propagation = ./metrics/propagation.dhall

let machine = ./metrics/machine.dhall

let anomaly = ./metrics/anomaly.dhall

let steps = ./metrics/steps.dhall

let activity = ./metrics/activity.dhall

let of = Q.samples

-- Slots last a second, epochs 10 slots; slot 0 begins at midnight.
let genesis =
      Q.file
        "genesis-shelley.json"
        ''
        {"systemStart": "2026-01-01T00:00:00Z", "slotLength": 1, "epochLength": 10, "securityParam": 3,
         "activeSlotsCoeff": 0.05, "protocolParams": {"maxBlockBodySize": 90112}}
        ''

let meta =
      Q.file
        "meta.json"
        ''
        {"meta": {"batch": "example", "ident": "example", "era": "conway", "profile_content": {
          "genesis": {"delegators": 0, "utxo": 0},
          "generator": {"add_tx_size": 0, "inputs_per_tx": 1, "outputs_per_tx": 1, "tps": 1, "tx_count": 0}}}}
        ''

let host = \(name : Text) -> \(lines : List Text) -> Q.file "${name}/stdout" (Q.lines lines)

-- A line of the current tracing system; `second` counts from midnight.
let line =
      \(second : Text) -> \(name : Text) -> \(body : Text) ->
        ''
        {"at":"2026-01-01T00:00:${second}Z","ns":"${name}","data":{${body}}}''

-- A line of the oldest tracing system, whose records have their name in the body.
let legacy =
      \(second : Text) -> \(kind : Text) -> \(body : Text) ->
        ''
        {"at":"2026-01-01T00:00:${second}Z","ns":["cardano.node"],"data":{"kind":"${kind}",${body}}}''

let hash = \(digit : Text) -> Text/replace "x" digit "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

let a = hash "a"

let b = hash "b"

let inSlot = \(slot : Text) -> ''
  "slot":${slot}''

let ledger = \(utxo : Text) -> \(density : Text) -> ''
  ,"utxoSize":${utxo},"chainDensity":${density}''

let forged = \(slot : Text) -> \(number : Text) -> \(block : Text) -> \(previous : Text) -> ''
  "slot":${slot},"blockNo":${number},"block":"${block}","blockPrev":"${previous}"''

let header = \(slot : Text) -> \(number : Text) -> \(block : Text) -> ''
  "slot":${slot},"blockNo":${number},"block":"${block}"''

let ofBlock = \(block : Text) -> ''
  "block":"${block}"''

let requested = \(block : Text) -> ''
  "head":"${block}","length":1''

let tip = \(block : Text) -> ''
  "newtip":"${block}@1","chainLengthDelta":1''

let announced = \(block : Text) -> ''
  "block":"${block}","blockingRead":true,"risingEdge":true''

let adopted = \(block : Text) -> \(size : Text) -> ''
  "blockHash":"${block}","blockSize":${size}''

let context = \(slot : Text) -> \(tipBlock : Text) -> ''
  "current slot":${slot},"tipBlockNo":${tipBlock}''

-- The last block of the chain. It is left out, because the run may end before it has reached all hosts.
let next = \(second : Text) -> \(slot : Text) -> \(previous : Text) ->
      line second "Forge.Loop.ForgedBlock" (forged slot "1" (hash "f") previous)

-- Host 0 forges a block in slot 2, which two peers adopt.
let block =
      S.Example::{
      , name = "a block that propagates to two peers"
      , files =
        [ genesis
        , meta
        , host
            "node-0"
            [ line "02.001" "Forge.Loop.StartLeadershipCheck" (inSlot "2")
            , line "02.003" "Forge.Loop.BlockContext" (context "2" "0")
            , line "02.006" "Forge.Loop.LedgerState" (inSlot "2")
            , line "02.010" "Forge.Loop.LedgerView" (inSlot "2")
            , line "02.015" "Forge.Loop.NodeIsLeader" (inSlot "2")
            , line "02.021" "Forge.Loop.TickedLedgerState" (inSlot "2")
            , line "02.028" "Forge.Loop.MempoolSnapshot" (inSlot "2")
            , line "02.036" "Forge.Loop.ForgedBlock" (forged "2" "0" a "GenesisHash")
            , line "02.045" "ChainSync.ServerHeader.Update" (announced a)
            , line "02.055" "BlockFetch.Server.SendBlock" (ofBlock a)
            , line "02.066" "Forge.Loop.AdoptedBlock" (adopted a "3000")
            , next "05.010" "5" a
            ]
        , host
            "node-1"
            [ line "02.100" "ChainSync.Client.DownloadedHeader" (header "2" "0" a)
            , line "02.112" "BlockFetch.Client.SendFetchRequest" (requested a)
            , line "02.125" "BlockFetch.Client.CompletedBlockFetch" (ofBlock a)
            , line "02.139" "ChainSync.ServerHeader.Update" (announced a)
            , line "02.154" "BlockFetch.Server.SendBlock" (ofBlock a)
            , line "02.170" "ChainDB.AddBlockEvent.AddedToCurrentChain" (tip a)
            ]
        , host
            "node-2"
            [ line "02.200" "ChainSync.Client.DownloadedHeader" (header "2" "0" a)
            , line "02.221" "BlockFetch.Client.SendFetchRequest" (requested a)
            , line "02.243" "BlockFetch.Client.CompletedBlockFetch" (ofBlock a)
            , line "02.266" "ChainSync.ServerHeader.Update" (announced a)
            , line "02.290" "BlockFetch.Server.SendBlock" (ofBlock a)
            , line "02.315" "ChainDB.AddBlockEvent.AddedToCurrentChain" (tip a)
            ]
        ]
      , expect =
        [ of forging.start [ "0.001" ]
        , of forging.blockContext [ "0.002" ]
        , of forging.ledgerState [ "0.003" ]
        , of forging.ledgerView [ "0.004" ]
        , of forging.lead [ "0.005" ]
        , of forging.ticked [ "0.006" ]
        , of forging.snapshot [ "0.007" ]
        , of forging.forge [ "0.008" ]
        , of forging.announce [ "0.009" ]
        , of forging.send [ "0.019" ]
        , of forging.adoption [ "0.030" ]
        , of forging.announceCum [ "0.045" ]
        , of peers.noticeFirst [ "0.100" ]
        , of peers.fetchFirst [ "0.125" ]
        , of peers.request [ "0.012", "0.021" ]
        , of peers.fetch [ "0.013", "0.022" ]
        , of peers.announce [ "0.014", "0.023" ]
        , of peers.send [ "0.029", "0.047" ]
        , of peers.adoption [ "0.045", "0.072" ]
        , of propagation.half [ "0.170" ]
        , of propagation.eighty [ "0.315" ]
        , of propagation.ninety [ "0.315" ]
        , of propagation.ninetyTwo [ "0.315" ]
        , of propagation.ninetyFour [ "0.315" ]
        , of propagation.ninetySix [ "0.315" ]
        , of propagation.ninetyEight [ "0.315" ]
        , of propagation.all [ "0.315" ]
        , of anomaly.size [ "3000" ]
        , of anomaly.battles [ "0" ]
        , of anomaly.blocksPerHost [ "0", "0", "2" ]
        , of steps.incomplete [ "0" ]
        , of steps.early [ "0" ]
        , of anomaly.chainedRatio [ "0.5" ]
        , of anomaly.filteredRatio [ "1" ]
        ]
      , doc = "All steps have records, each in the log of its host"
      }

-- Names of node 11, with the prefix that a node may add. The last peer adopts by a fork switch, which no metric counts.
let newest =
      let named = \(second : Text) -> \(name : Text) -> line second "Cardano.Node.${name}"

      in  S.Example::{
          , name = "names of node 11, and an adoption by a switch to another fork"
          , files =
            [ genesis
            , meta
            , host
                "node-0"
                [ named "02.001" "Forge.Loop.StartLeadershipCheck" (inSlot "2")
                , named "02.015" "Forge.Loop.NodeIsLeader" (inSlot "2")
                , named "02.021" "Forge.Loop.ForgeTickedLedgerState" (inSlot "2")
                , named "02.028" "Forge.Loop.ForgingMempoolSnapshot" (inSlot "2")
                , named "02.036" "Forge.Loop.ForgedBlock" (forged "2" "0" a "GenesisHash")
                , named "02.066" "Forge.Loop.AdoptedBlock" (adopted a "3000")
                , named "03.000" "ChainDB.LedgerEvent.Snapshot.TookSnapshot" (inSlot "3")
                , next "05.010" "5" a
                ]
            , host
                "node-1"
                [ line "02.100" "ChainSync.Client.DownloadedHeader" (header "2" "0" a)
                , line "02.112" "BlockFetch.Client.SendFetchRequest" (requested a)
                , line "02.125" "BlockFetch.Client.CompletedBlockFetch" (ofBlock a)
                , line "02.170" "ChainDB.AddBlockEvent.AddedToCurrentChain" (tip a)
                ]
            , host
                "node-2"
                [ line "02.200" "ChainSync.Client.DownloadedHeader" (header "2" "0" a)
                , line "02.221" "BlockFetch.Client.SendFetchRequest" (requested a)
                , line "02.243" "BlockFetch.Client.CompletedBlockFetch" (ofBlock a)
                , line "02.315" "ChainDB.AddBlockEvent.SwitchedToAFork" (tip a)
                ]
            ]
          , expect =
            [ of forging.ticked [ "0.006" ]
            , of forging.snapshot [ "0.007" ]
            , of forging.forge [ "0.008" ]
            , of forging.adoption [ "0.030" ]
            , of peers.request [ "0.012" ]
            , of peers.adoption [ "0.045" ]
            , of propagation.half [ "0.170" ]
            , of propagation.all [ "0.170" ]
            ]
          }

-- Two blocks of one height, one of them on no chain. Steps without a record take 10 ms, or are left out.
let battle =
      S.Example::{
      , name = "a battle, and steps without records"
      , files =
        [ genesis
        , meta
        , host
            "node-0"
            [ legacy "02.001" "TraceStartLeadershipCheck" (inSlot "2")
            , legacy "02.007" "TraceNodeIsLeader" (inSlot "2")
            , legacy "02.020" "TraceForgedBlock" (forged "2" "0" a "GenesisHash")
            , legacy "02.030" "TraceAddBlockEvent.AddedToCurrentChain" (tip a)
            , legacy "02.031" "TraceAdoptedBlock" (adopted a "2000")
            , next "05.010" "5" a
            ]
        , host
            "node-1"
            [ legacy "03.002" "TraceStartLeadershipCheck" (inSlot "3")
            , legacy "03.004" "TraceNodeIsLeader" (inSlot "3")
            , legacy "03.009" "TraceForgedBlock" (forged "3" "0" b "GenesisHash")
            , legacy "03.050" "ChainSyncClientEvent.TraceDownloadedHeader" (header "2" "0" a)
            , legacy "03.060" "SendFetchRequest" (requested a)
            , legacy "03.070" "CompletedBlockFetch" (ofBlock a)
            , legacy "03.080" "TraceAddBlockEvent.AddedToCurrentChain" (tip a)
            ]
        ]
      , expect =
        [ of forging.lead [ "0.006" ]
        , of forging.forge [ "0.013" ]
        , of forging.announce [ "0.01" ]
        , of forging.send [ "0.01" ]
        , of forging.adoption [ "0.01" ]
        , of forging.announceCum [ "0.01" ]
        , Q.none forging.ticked
        , of anomaly.battles [ "1" ]
        , of steps.incomplete [ "4" ]
        , of anomaly.blocksPerHost [ "1", "2" ]
        , of anomaly.chainedRatio [ "0", "0.5" ]
        ]
      , doc = "Names of the oldest generation"
      }

-- Resource usage of a process since its start, at half past each second.
let used =
      \(second : Text) -> \(centiseconds : Text) -> \(mebibytes : Text) -> \(kibibytes : Text) -> \(collections : Text) ->
        line
          second
          "Resources"
          ''
          "CentiCpu":${centiseconds},"CentiGC":${collections},"CentiMut":${centiseconds},"CentiBlkIO":${collections},"GcsMajor":${collections},"GcsMinor":${centiseconds},"Alloc":${mebibytes},"NetRd":${kibibytes},"NetWr":${kibibytes},"FsRd":${kibibytes},"FsWr":${kibibytes},"RSS":${mebibytes},"Heap":${mebibytes},"Live":${mebibytes},"Threads":${collections}''

let process =
      S.Example::{
      , name = "resource usage of a process over several slots"
      , files =
        [ genesis
        , meta
        , host
            "node-0"
            [ used "00.500" "10" "1048576" "1024" "1"
            , line "01.002" "Forge.Loop.StartLeadershipCheck" (inSlot "1" ++ ledger "7" "0.25")
            , line "01.005" "Forge.Loop.BlockContext" (context "1" "0")
            , line "01.009" "Forge.Loop.LedgerState" (inSlot "1")
            , line "01.014" "Forge.Loop.LedgerView" (inSlot "1")
            , line "01.020" "Forge.Loop.NodeNotLeader" (inSlot "1")
            , used "01.500" "100" "3145728" "3072" "3"
            , line "02.003" "Forge.Loop.StartLeadershipCheck" (inSlot "2" ++ ledger "8" "0.5")
            , line "02.013" "Forge.Loop.NodeIsLeader" (inSlot "2")
            , line "02.020" "Forge.Loop.ForgedBlock" (forged "2" "0" a "GenesisHash")
            , line "02.030" "Forge.Loop.AdoptedBlock" (adopted a "1000")
            , used "02.500" "190" "6291456" "7168" "7"
            , line "03.004" "Forge.Loop.StartLeadershipCheck" (inSlot "3")
            , line "03.009" "LedgerMetrics" (inSlot "3" ++ ledger "9" "0.75")
            , used "03.500" "200" "7340032" "8192" "8"
            , line "04.005" "Forge.Loop.StartLeadershipCheck" (inSlot "4")
            ]
        , host
            "node-1"
            [ line "02.100" "ChainSync.Client.DownloadedHeader" (header "2" "0" a)
            , line "02.112" "BlockFetch.Client.SendFetchRequest" (requested a)
            , line "02.125" "BlockFetch.Client.CompletedBlockFetch" (ofBlock a)
            , line "02.170" "ChainDB.AddBlockEvent.AddedToCurrentChain" (tip a)
            ]
        ]
      , expect =
        [ of machine.starts [ "0", "0", "1", "1", "1", "1" ]
        , of machine.cpu [ "1", "10", "10", "90", "90" ]
        , of machine.gc [ "1", "1", "1", "2", "4" ]
        , of machine.mut [ "1", "10", "10", "90", "90" ]
        , of machine.blkIo [ "1", "1", "1", "2", "4" ]
        , of machine.gcsMajor [ "0", "1", "1", "2", "4" ]
        , of machine.gcsMinor [ "0", "10", "10", "90", "90" ]
        , of machine.rss [ "1", "3", "6", "7", "7" ]
        , of machine.heap [ "1", "3", "6", "7", "7" ]
        , of machine.live [ "1", "3", "6", "7", "7" ]
        , of machine.alloc [ "0", "1", "1", "2", "3" ]
        , of machine.netRd [ "0", "1", "1", "2", "4" ]
        , of machine.netWr [ "0", "1", "1", "2", "4" ]
        , of machine.fsRd [ "0", "1", "1", "2", "4" ]
        , of machine.fsWr [ "0", "1", "1", "2", "4" ]
        , of machine.started [ "0.002", "0.003", "0.004", "0.005" ]
        , of machine.blockContext [ "0.003" ]
        , of machine.ledgerState [ "0.004" ]
        , of machine.ledgerView [ "0.005" ]
        , of machine.leading [ "0.006", "0.01" ]
        , of machine.blockGap [ "0", "0", "0", "1", "2", "3" ]
        , of machine.density [ "0", "0", "0", "0.25", "0.5", "0.75" ]
        , of machine.spanCpu [ "0", "1" ]
        , Q.none machine.spanCpuEpoch
        , Q.none machine.spanCpuReward
        , of machine.threads [ "1", "3", "7", "8", "8" ]
        , of machine.leads [ "0", "0", "0", "0", "0", "1" ]
        , of machine.utxo [ "0", "0", "0", "7", "8", "9" ]
        , of machine.hostSlots [ "0", "4" ]
        ]
      }

-- A slot in which a process keeps a processor busy.
let goesOn =
      \(slot : Text) -> \(centiseconds : Text) ->
        [ line "${slot}.001" "Forge.Loop.StartLeadershipCheck" (inSlot slot), used "${slot}.500" centiseconds "0" "0" "0" ]

let busy =
      S.Example::{
      , name = "a process that is busy across an epoch boundary"
      , files =
        [ genesis
        , meta
        , host
            "node-0"
            (   goesOn "10" "10"
              # goesOn "11" "100"
              # goesOn "12" "190"
              # goesOn "13" "280"
              # goesOn "14" "370"
              # goesOn "15" "460"
              # goesOn "16" "550"
              # goesOn "17" "640"
              # goesOn "18" "730"
              # goesOn "19" "740"
            )
        ]
      , expect =
        [ of machine.spanCpu [ "7" ]
        , of machine.spanCpuEpoch [ "8" ]
        , of machine.spanCpuReward [ "8" ]
        , of machine.hostSlots [ "9" ]
        ]
      , doc = "Slots 11 to 18 are slots 1 to 8 of epoch 1: across the 3 slots of the boundary, and the 7 of the reward update"
      }

-- One host collects transactions in slot 1, rejects one in slot 2, and forges a block in slot 3. The other submits one.
let transactions =
      S.Example::{
      , name = "transactions of hosts over several slots"
      , files =
        [ genesis
        , meta
        , host
            "node-0"
            [ line "01.001" "Forge.Loop.StartLeadershipCheck" (inSlot "1")
            , line "01.100" "TxSubmission.TxInbound.Collected" "\"count\":3"
            , line "01.200" "TxSubmission.TxInbound.Processed" "\"accepted\":2,\"rejected\":1"
            , line "01.300" "Mempool.AddedTx" "\"mempoolSize\":{\"numTxs\":5}"
            , line "02.001" "Forge.Loop.StartLeadershipCheck" (inSlot "2")
            , line "02.100" "Mempool.RejectedTx" "\"mempoolSize\":{\"numTxs\":5}"
            , line "02.200" "ChainDB.LedgerEvent.Snapshot.TookSnapshot" (inSlot "1")
            , line
                "02.250"
                "ChainDB.LedgerEvent.Snapshot.TookSnapshot"
                "\"enclosedTime\":{\"tag\":\"FallingEdgeWith\",\"contents\":0.05}"
            , line "03.001" "Forge.Loop.StartLeadershipCheck" (inSlot "3")
            , line "03.005" "Forge.Loop.NodeIsLeader" (inSlot "3")
            , line "03.010" "Forge.Loop.ForgedBlock" (forged "3" "0" a "GenesisHash")
            , line "03.020" "Mempool.RemoveTxs" "\"mempoolSize\":{\"numTxs\":4}"
            ]
        , host
            "node-1"
            [ line "01.002" "Forge.Loop.StartLeadershipCheck" (inSlot "1")
            , line "01.100" "TraceBenchTxSubServAck" "\"txIds\":[\"1\"]"
            , line "01.200" "Benchmark.BenchTxSubSummary" "\"summary\":{\"ssTxSent\":1,\"ssElapsed\":1.5}"
            ]
        ]
      , expect =
        [ of activity.collected [ "0", "0", "0", "3" ]
        , of activity.accepted [ "0", "0", "0", "2" ]
        , of activity.rejected [ "0", "0", "0", "1" ]
        , of activity.refused [ "0", "0", "0", "1" ]
        , of activity.mempoolTxs [ "4", "5", "5" ]
        , of activity.forged [ "0", "0", "0", "1" ]
        , of activity.snapshots [ "0", "0", "0", "1" ]
        , of activity.snapshotTime [ "0.05" ]
        , of activity.objects [ "3", "4", "4", "4" ]
        ]
      }

in  [ block, newest, battle, process, busy, transactions ]
