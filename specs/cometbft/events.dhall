-- A transaction in the load tool's report, samples of the nodes and their machines, lines of the nodes' logs.
let S = ../schema/package.dhall

let E = S.event

let U = S.unit

let D = ./units.dhall

let source = ./source.dhall

let tx =
      { experiment = E.text "experiment_id"
      , blockTime = E.inUnit U.nanosecond (E.integer "block_time")
      , duration = E.inUnit U.nanosecond (E.integer "duration_ns")
      , hash = E.optional (E.text "tx_hash")
      , connections = E.inUnit D.connection (E.integer "connections")
      , rate = E.inUnit D.transactionPerSecond (E.integer "rate")
      , size = E.inUnit U.byte (E.integer "size")
      }

let loaded =
        { name = "loaded"
        , source = source.load.name
        , forms =
          [ { names = [] : List E.Name
            , unless = [] : List E.Unless
            , fields = [ tx.experiment, tx.blockTime, tx.duration, tx.hash, tx.connections, tx.rate, tx.size ]
            }
          ]
        , doc = "A transaction of the load that is in a block"
        }
      : S.Event

-- The labels that identify a line; a missing label is the empty text.
let job = E.otherwise "" (E.at [ "labels", "job" ] (E.text "job"))

let instance = E.otherwise "" (E.at [ "labels", "instance" ] (E.text "instance"))

-- The beginning of the name of the job, which is `ephemeral` and a number for rotating nodes.
let role = E.otherwise "" (E.at [ "labels", "job" ] (E.changed [ E.take +9 ] (E.text "role")))

let plainValue = E.at [ "value" ] (E.real "value")

let value = \(unit : S.Unit) -> E.inUnit unit plainValue

let series =
      \(name : Text) ->
      \(names : List E.Name) ->
      \(unit : S.Unit) ->
      \(doc : Text) ->
          { name
          , source = source.samples.name
          , forms = [ { names, unless = [] : List E.Unless, fields = [ job, instance, role, value unit ] } ]
          , doc
          }
        : S.Event

-- Metrics of a node, also with the prefix of older versions.
let ofNode =
      \(metric : Text) ->
        [ { generation = "cometbft", name = "cometbft_${metric}" }
        , { generation = "tendermint", name = "tendermint_${metric}" }
        ]

let plain = \(name : Text) -> [ { generation = "exporter", name } ]

-- Lines of a node's log.
let inLog =
      \(name : Text) ->
      \(names : List E.Name) ->
      \(fields : List E.Field) ->
      \(doc : Text) ->
        { name, source = source.logs.name, forms = [ { names, unless = [] : List E.Unless, fields } ], doc } : S.Event

let message = \(name : Text) -> [ { generation = "message", name } ]

-- A message as logged before 1.0 (0.34 to 0.38.26, 0.39.0 to 0.40.0) and since (1.0.1, 2.0.0-rc1). The message about
-- joining consensus already changed in 0.39.
let renamed = \(before : Text) -> \(since : Text) -> message before # message since

let blockHeight = E.inUnit D.block (E.integer "height")

let transactions = E.optional (E.inUnit D.transaction (E.at [ "num_txs_res" ] (E.integer "transactions")))

let level = E.text "level"

in  { tx
    , blockHeight
    , finalized =
        inLog "finalized" (renamed "finalized block" "Finalized block") [ blockHeight, transactions ] "The node executed a block"
    , committed = inLog "committed" (renamed "committed state" "Committed state") [ blockHeight ] "The node committed the state after a block"
    , proposed = inLog "proposed" (renamed "received proposal" "Received proposal") ([] : List E.Field) "The node received a block proposal"
    , started = inLog "started" (message "Started node") ([] : List E.Field) "The node started"
    , caughtUp =
        inLog
          "caught_up"
          (renamed "Time to switch to consensus reactor!" "Time to switch to consensus mode!")
          [ blockHeight ]
          "The node caught up and joins consensus"
    , complained =
        inLog
          "complained"
          [ { generation = "level", name = "error" }
          , { generation = "level", name = "warn" }
          , { generation = "level", name = "ERROR" }
          , { generation = "level", name = "WARN" }
          ]
          [ level ]
          "The node logged a line of level warn or error"
    , job
    , instance
    , role
    , value = plainValue
    , loaded
    , height = series "height" (ofNode "consensus_height") D.block "Block height of a node"
    , syncedHeight =
        series "synced_height" (ofNode "blocksync_latest_block_height") D.block "Block height of a node that is catching up"
    , totalTxs = series "total_txs" (ofNode "consensus_total_txs") D.transaction "Transactions in blocks, counted by a node"
    , mempool = series "mempool" (ofNode "mempool_size") D.transaction "Transactions in a node's mempool"
    , peers = series "peers" (ofNode "p2p_peers") D.peer "Peers of a node"
    , rounds = series "rounds" (ofNode "consensus_rounds") D.round "Consensus rounds of a node at its height"
    , resident = series "resident" (plain "process_resident_memory_bytes") U.byte "Resident memory of a process"
    , load1 = series "load1" (plain "node_load1") U.none "One-minute load average of a machine"
    , up = series "up" (plain "up") U.none "Whether the target responded: 1 or 0"
    }
