-- Time series of a host and its node, and their points as rows.
let S = ../schema/package.dhall

let G = S.grain

let X = S.x

let U = S.unit

let e = ./samples.dhall

let column = G.column

let windows =
      S.Relation::{
      , name = "sampled_time"
      , sql = ../../queries/antelope/sampled_time.sql as Text
      , uses = [ e.cpu.name, e.memoryTotal.name, e.written.name, e.head.name ]
      , columns =
        [ column "text" "name" U.none "Name of the window"
        , column "instant" "from_ns" U.nanosecond "First step"
        , column "instant" "to_ns" U.nanosecond "No step later"
        ]
      , key = [ "name" ]
      , checks =
        [ S.Check::{
          , code = "one-host"
          , sql = ../../queries/antelope/checks/one_host.sql as Text
          , uses = [ e.cpu.name, e.memoryTotal.name, e.written.name ]
          , message = "there are samples of {number} hosts, and an upgrade is of one: {series} of {hosts}"
          , hint = "fetch those of one: a selector of its label `instance`, or `job`"
          }
        ]
      , doc = "From when to when there are samples"
      }

let labels = G.fieldNames [ e.field.job, e.field.instance ]

-- A target that did not answer has no value until it answers again, nor has one that is no longer asked.
let gone = Some { event = e.up.name, on = labels, where = X.equals (G.field e.value) (X.natural 0) }

let all = S.Series::{ name = "", by = labels, windows = windows.name, every = e.constant.step.name, unit = U.none }

let gauge =
      \(name : Text) -> \(event : S.Event) -> \(unit : S.Unit) -> \(doc : Text) ->
            all
            //  { name
                , samples = G.samples event
                , reading = "latest"
                , windowNs = 300000000000
                , gone
                , ceases = True
                , unit
                , doc
                }

-- Metrics are means over steps: where samples begin, or are missing, a rate is too low.
let rate =
      \(name : Text) -> \(event : S.Event) -> \(unit : S.Unit) -> \(doc : Text) ->
            gauge name event unit doc
        //  { reading = "rate"
            , windowNs = 0
            , window = e.constant.window.name
            , covered = True
            , gone = None G.Gone
            , ceases = False
            }

let by = \(f : S.Field) -> { by = labels # G.fieldNames [ f ] }

let difference =
      \(name : Text) -> \(one : S.Series.Type) -> \(other : S.Series.Type) -> \(doc : Text) ->
        let a = G.term "total" one

        let b = G.term "rest" other

        in      all
            //  { name, terms = [ a, b ], value = X.minus (G.termValue a) (G.termValue b), unit = one.unit, doc }

let idle =
          rate "cpu_idle" e.cpu U.none "Share of its time that a CPU was idle"
      //  by e.field.cpu
      //  { samples = G.samplesWhere e.cpu (X.equals (G.field e.field.mode) (X.text "idle")) }

let memoryTotal = gauge "memory_total_bytes" e.memoryTotal U.byte "Memory of the host"

let memoryAvailable = gauge "memory_available_bytes" e.memoryAvailable U.byte "Memory that programs can still have"

let swapTotal = gauge "swap_total_bytes" e.swapTotal U.byte "Swap space of the host"

let swapFree = gauge "swap_free_bytes" e.swapFree U.byte "Swap space that is free"

let cpuUsage =
      let mean = G.meanOf "idle" idle

      in      all
          //  { name = "cpu_usage_series"
              , terms = [ mean ]
              , value = X.minus (X.real 1.0) (G.termValue mean)
              , unit = U.percent
              , doc = "Use of all CPUs: 1 less the mean of the shares of time that they were idle"
              }

let memoryUsed = difference "memory_used_series" memoryTotal memoryAvailable "Memory that is not available to programs"

let swapUsed = difference "swap_used_series" swapTotal swapFree "Swap space that is not free"

let writeRate =
          rate "disk_write_series" e.written (U.unit "byte / second" "B/s") "What is written to each drive, a second"
      //  by e.field.device

let perSecond = \(name : Text) -> U.unit "${name} / second"

let node =
      { head = gauge "head_block_series" e.head e.unit.block "Number of the node's head block"
      , irreversible =
          gauge "irreversible_block_series" e.irreversible e.unit.block "Number of the node's last irreversible block"
      , clients = gauge "p2p_clients_series" e.clients e.unit.peer "Peers that have connected to the node"
      , peers = gauge "p2p_peers_series" e.peers e.unit.peer "Peers that the node has connected to"
      , incoming =
          rate
            "transactions_incoming_series"
            e.incoming
            (perSecond "transaction" "tx/s")
            "Transactions that come in, a second"
      , produced =
          rate
            "transactions_produced_series"
            e.produced
            (perSecond "transaction" "tx/s")
            "Transactions in blocks that the node makes, a second"
      , cpu =
              rate "block_cpu_series" e.blockCpu U.percent "Time of blocks on a CPU, a second, for each type of block"
          //  by e.field.blockType
      , net =
              rate
                "block_net_series"
                e.blockNet
                (U.unit "byte / second" "B/s")
                "Size of the transactions of blocks, a second, for each type of block"
          //  by e.field.blockType
      }

-- The points of a series as rows, which metrics measure and phases cut.
let c =
      { name = column "text" "name" U.none "Name of the window"
      , job = column "text" "job" U.none "Job of the target"
      , instance = column "text" "instance" U.none "Target"
      , device = column "text" "device" U.none "Drive"
      , at = column "instant" "t_ns" U.nanosecond "When"
      , value = \(unit : S.Unit) -> column "real" "value" unit "Value then"
      }

let points =
      \(name : Text) -> \(series : S.Series.Type) -> \(more : List S.Column) -> \(doc : Text) ->
        S.Grain::{
        , name
        , relation = series.name
        , key = [ "name" ] # series.by # [ "t_ns" ]
        , columns = [ c.name, c.job, c.instance ] # more # [ c.at, c.value series.unit ]
        , at = c.at.name
        , doc
        }

let none = [] : List S.Column

in  { windows
    , column = c
    , node
    , cpuUsage
    , memoryUsed
    , swapUsed
    , writeRate
    , all =
      [ idle
      , cpuUsage
      , memoryTotal
      , memoryAvailable
      , memoryUsed
      , swapTotal
      , swapFree
      , swapUsed
      , writeRate
      , node.head
      , node.irreversible
      , node.clients
      , node.peers
      , node.incoming
      , node.produced
      , node.cpu
      , node.net
      ]
    , point =
      { cpu = points "cpu_point" cpuUsage none "Use of all CPUs at a step"
      , memory = points "memory_point" memoryUsed none "Used memory at a step"
      , clients = points "clients_point" node.clients none "Peers that have connected, at a step"
      , peers = points "peers_point" node.peers none "Peers connected to, at a step"
      , incoming = points "incoming_point" node.incoming none "Rate of transactions that come in, at a step"
      , produced = points "produced_point" node.produced none "Rate of transactions in blocks of the node, at a step"
      , swap = points "swap_point" swapUsed none "Used swap space at a step"
      , disk =
              points "disk_point" writeRate [ c.device ] "Write rate of a drive at a step"
          //  { checks =
                [ S.Check::{
                  , code = "state-device"
                  , sql = ../../queries/antelope/checks/state_device.sql as Text
                  , uses = [ "disk_point" ]
                  , message = "there are no samples of the drive that holds the state, {device}; there are of {devices}"
                  , hint = "name it in meta.json: state.device"
                  }
                ]
              }
      }
    }
