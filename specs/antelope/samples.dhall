-- Samples of an operator's Prometheus server: those of node_exporter, and of the node's own exporter.
let S = ../schema/package.dhall

let E = S.event

let U = S.unit

let meta = [ "meta.json" ]

let text =
      \(name : Text) -> \(path : List Text) -> \(default : Text) -> \(doc : Text) ->
        S.Constant::{ name, files = meta, path, type = "text", default = Some default, doc }

let fact = \(name : Text) -> \(path : List Text) -> \(doc : Text) -> text name path "" doc

let seconds =
      \(name : Text) -> \(path : List Text) -> \(default : Text) -> \(doc : Text) ->
        S.Constant::{ name, files = meta, path, type = "duration", unit = U.second, default = Some default, doc }

let constant =
      { ident =
              text "ident" [ "ident" ] "run" "What the run is called in reports"
          //  { files = meta # [ "run.json" ] }
      , host = text "host" [ "host" ] "" "Host"
      , before = text "version_before" [ "versions", "before" ] "" "Version before the upgrade"
      , after = text "version_after" [ "versions", "after" ] "" "Version after the upgrade"
      , modeBefore = text "mode_before" [ "state", "mode_before" ] "" "How the state was held in memory before"
      , modeAfter = text "mode_after" [ "state", "mode_after" ] "" "How the state is held in memory after"
      , device = text "state_device" [ "state", "device" ] "" "Drive that holds the state"
      , upgrade =
          S.Constant::{
          , name = "upgrade"
          , files = meta
          , path = [ "upgrade" ]
          , type = "instant"
          , default = Some ""
          , doc = "When the node was upgraded"
          }
      , secondStart =
          S.Constant::{
          , name = "second_start"
          , files = meta
          , path = [ "second_start" ]
          , type = "instant"
          , default = Some ""
          , doc = "When the upgraded node was started again"
          }
      , os = fact "os" [ "hardware", "os" ] "Operating system"
      , hypervisor = fact "hypervisor" [ "hardware", "hypervisor" ] "Hypervisor"
      , cpu = fact "cpu" [ "hardware", "cpu" ] "CPU"
      , memory = fact "memory" [ "hardware", "memory" ] "Memory"
      , swap = fact "swap" [ "hardware", "swap" ] "Swap space"
      , stateDrive = fact "state_drive" [ "hardware", "state_drive" ] "Drive of the state"
      , blocksDrive = fact "blocks_drive" [ "hardware", "blocks_drive" ] "Drive of the blocks"
      , stateSize = fact "state_size" [ "configuration", "chain_state_db_size" ] "Greatest size of the state"
      , maxClients = fact "max_clients" [ "configuration", "max_clients" ] "Peers that may connect at most"
      , plugins = fact "plugins" [ "configuration", "plugins" ] "Plugins of the node"
      , window = seconds "rate_window" [ "rate_window_seconds" ] "20" "Time that rates are taken over"
      , step = seconds "step" [ "step_seconds" ] "1" "Time from point to point of a series"
      }

let samples =
      S.Source::{
      , name = "samples"
      , kind = "samples"
      , hosts = ""
      , logs = [ "prom/raw*.json", "*.parquet", "*.om" ]
      , time = [] : List Text
      , body = [] : List Text
      , lookups = [] : List S.source.Lookup
      , constants =
        [ constant.ident
        , constant.host
        , constant.before
        , constant.after
        , constant.modeBefore
        , constant.modeAfter
        , constant.device
        , constant.upgrade
        , constant.secondStart
        , constant.os
        , constant.hypervisor
        , constant.cpu
        , constant.memory
        , constant.swap
        , constant.stateDrive
        , constant.blocksDrive
        , constant.stateSize
        , constant.maxClients
        , constant.plugins
        , constant.window
        , constant.step
        ]
      , doc = "Samples of the host's and the node's metrics, as a Prometheus server has them"
      }

let label = \(name : Text) -> E.otherwise "" (E.at [ "labels", name ] (E.text name))

let field =
      { job = label "job"
      , instance = label "instance"
      , cpu = label "cpu"
      , mode = label "mode"
      , device = label "device"
      , blockType = label "block_type"
      }

let value = E.at [ "value" ] (E.real "value")

let event =
      \(name : Text) -> \(metric : Text) -> \(more : List S.Field) -> \(unit : S.Unit) -> \(doc : Text) ->
          { name
          , source = samples.name
          , forms =
            [ { names = [ { generation = "exporter", name = metric } ]
              , unless = [] : List E.Unless
              , fields = [ field.job, field.instance ] # more # [ E.inUnit unit value ]
              }
            ]
          , doc
          }
        : S.Event

let plain = event

let none = [] : List S.Field

let memory =
      \(name : Text) -> \(metric : Text) -> \(doc : Text) -> plain name "node_memory_${metric}_bytes" none U.byte doc

let node =
      \(name : Text) -> \(metric : Text) -> \(unit : S.Unit) -> \(doc : Text) ->
        plain name "nodeos_${metric}" none unit doc

let D = ./units.dhall

let block = D.block

let transaction = D.transaction

let peer = D.peer

let microsecond = D.microsecond

in  { constant
    , samples
    , field
    , value
    , unit = { block, transaction, peer, microsecond, transactionPerSecond = D.transactionPerSecond }
    , up = plain "up" "up" none U.none "Whether a target answered: 1, or 0"
    , cpu =
        plain "cpu_seconds" "node_cpu_seconds_total" [ field.cpu, field.mode ] U.second "Time that a CPU has spent in a mode"
    , memoryTotal = memory "memory_total" "MemTotal" "Memory of the host"
    , memoryAvailable = memory "memory_available" "MemAvailable" "Memory that programs can still have without swapping"
    , swapTotal = memory "swap_total" "SwapTotal" "Swap space of the host"
    , swapFree = memory "swap_free" "SwapFree" "Swap space that is free"
    , written =
        plain "written" "node_disk_written_bytes_total" [ field.device ] U.byte "What has been written to a drive"
    , head = node "head_block" "head_block_num" block "Number of the node's head block"
    , irreversible = node "irreversible_block" "last_irreversible" block "Number of its last irreversible block"
    , clients = node "p2p_clients" "p2p_clients" peer "Peers that have connected to the node"
    , peers = node "p2p_peers" "p2p_peers" peer "Peers that the node has connected to"
    , incoming = node "transactions_incoming" "trxs_incoming_total" transaction "Transactions that have come in"
    , produced = node "transactions_produced" "trxs_produced_total" transaction "Transactions in blocks that the node made"
    , blockCpu =
        plain "block_cpu" "nodeos_cpu_usage_us_total" [ field.blockType ] microsecond "Time that blocks have taken on a CPU"
    , blockNet =
        plain
          "block_net"
          "nodeos_net_usage_us_total"
          [ field.blockType ]
          U.byte
          "Size of the transactions of blocks (bytes, in spite of the metric's name)"
    }
