-- Samples of a Prometheus server: node_exporter and the node's own exporter.
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
              text "ident" [ "ident" ] "run" "Name of the run in reports"
          //  { files = meta # [ "run.json" ] }
      , host = text "host" [ "host" ] "" "Host"
      , before = text "version_before" [ "versions", "before" ] "" "Version before the upgrade"
      , after = text "version_after" [ "versions", "after" ] "" "Version after the upgrade"
      , modeBefore = text "mode_before" [ "state", "mode_before" ] "" "State memory mapping before the upgrade"
      , modeAfter = text "mode_after" [ "state", "mode_after" ] "" "State memory mapping after the upgrade"
      , device = text "state_device" [ "state", "device" ] "" "State device"
      , upgrade =
          S.Constant::{
          , name = "upgrade"
          , files = meta
          , path = [ "upgrade" ]
          , type = "instant"
          , default = Some ""
          , doc = "Time of the upgrade"
          }
      , secondStart =
          S.Constant::{
          , name = "second_start"
          , files = meta
          , path = [ "second_start" ]
          , type = "instant"
          , default = Some ""
          , doc = "Time of the second start of the upgraded node"
          }
      , os = fact "os" [ "hardware", "os" ] "Operating system"
      , hypervisor = fact "hypervisor" [ "hardware", "hypervisor" ] "Hypervisor"
      , cpu = fact "cpu" [ "hardware", "cpu" ] "CPU"
      , memory = fact "memory" [ "hardware", "memory" ] "Memory"
      , swap = fact "swap" [ "hardware", "swap" ] "Swap space"
      , stateDrive = fact "state_drive" [ "hardware", "state_drive" ] "State drive"
      , blocksDrive = fact "blocks_drive" [ "hardware", "blocks_drive" ] "Blocks drive"
      , stateSize = fact "state_size" [ "configuration", "chain_state_db_size" ] "Maximum state size"
      , maxClients = fact "max_clients" [ "configuration", "max_clients" ] "Maximum number of incoming peers"
      , plugins = fact "plugins" [ "configuration", "plugins" ] "Node plugins"
      , window = seconds "rate_window" [ "rate_window_seconds" ] "20" "Rate window"
      , step = seconds "step" [ "step_seconds" ] "1" "Step between points of a series"
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
      , doc = "Samples of host and node metrics, from a Prometheus server"
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
    , up = plain "up" "up" none U.none "Whether the target responded: 1 or 0"
    , cpu =
        plain "cpu_seconds" "node_cpu_seconds_total" [ field.cpu, field.mode ] U.second "CPU time by mode"
    , memoryTotal = memory "memory_total" "MemTotal" "Total memory of the host"
    , memoryAvailable = memory "memory_available" "MemAvailable" "Memory available to programs without swapping"
    , swapTotal = memory "swap_total" "SwapTotal" "Total swap space of the host"
    , swapFree = memory "swap_free" "SwapFree" "Free swap space"
    , written =
        plain "written" "node_disk_written_bytes_total" [ field.device ] U.byte "Bytes written to a drive"
    , head = node "head_block" "head_block_num" block "Head block number"
    , irreversible = node "irreversible_block" "last_irreversible" block "Last irreversible block number"
    , clients = node "p2p_clients" "p2p_clients" peer "Incoming peers: connected to the node"
    , peers = node "p2p_peers" "p2p_peers" peer "Outgoing peers: the node connected to them"
    , incoming = node "transactions_incoming" "trxs_incoming_total" transaction "Received transactions"
    , produced = node "transactions_produced" "trxs_produced_total" transaction "Transactions in blocks that the node produced"
    , blockCpu =
        plain "block_cpu" "nodeos_cpu_usage_us_total" [ field.blockType ] microsecond "CPU time of blocks"
    , blockNet =
        plain
          "block_net"
          "nodeos_net_usage_us_total"
          [ field.blockType ]
          U.byte
          "Net usage of blocks (in bytes, despite the name of the metric)"
    }
