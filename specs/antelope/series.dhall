-- Time series of a host and its node, and grains over their points.
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
        , column "instant" "to_ns" U.nanosecond "Last step"
        ]
      , key = [ "name" ]
      , checks =
        [ S.Check::{
          , code = "one-host"
          , sql = ../../queries/antelope/checks/one_host.sql as Text
          , uses = [ e.cpu.name, e.memoryTotal.name, e.written.name ]
          , message = "the samples are of {number} hosts, but an upgrade report covers one host: {series} of {hosts}"
          , hint = "fetch the samples of one host: select its label `instance` or `job`"
          }
        ]
      , doc = "Time range of the samples"
      }

let labels = G.fieldNames [ e.field.job, e.field.instance ]

-- A target that does not respond, or is no longer scraped, has no value until it responds again.
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

-- Points whose window is not fully covered by samples are left out: their rate would be too low.
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
          rate "cpu_idle" e.cpu U.none "Idle time of a CPU, as a share of all time"
      //  by e.field.cpu
      //  { samples = G.samplesWhere e.cpu (X.equals (G.field e.field.mode) (X.text "idle")) }

let memoryTotal = gauge "memory_total_bytes" e.memoryTotal U.byte "Total memory of the host"

let memoryAvailable = gauge "memory_available_bytes" e.memoryAvailable U.byte "Memory available to programs"

let swapTotal = gauge "swap_total_bytes" e.swapTotal U.byte "Total swap space of the host"

let swapFree = gauge "swap_free_bytes" e.swapFree U.byte "Free swap space"

let cpuUsage =
      let mean = G.meanOf "idle" idle

      in      all
          //  { name = "cpu_usage_series"
              , terms = [ mean ]
              , value = X.minus (X.real 1.0) (G.termValue mean)
              , unit = U.percent
              , doc = "Usage of all CPUs: 1 minus the mean idle share of the CPUs"
              }

let memoryUsed = difference "memory_used_series" memoryTotal memoryAvailable "Used memory: total minus available"

let swapUsed = difference "swap_used_series" swapTotal swapFree "Used swap space: total minus free"

let writeRate =
          rate "disk_write_series" e.written (U.unit "byte / second" "B/s") "Write rate per drive"
      //  by e.field.device

let perSecond = \(name : Text) -> U.unit "${name} / second"

let node =
      { head = gauge "head_block_series" e.head e.unit.block "Head block number"
      , irreversible =
          gauge "irreversible_block_series" e.irreversible e.unit.block "Last irreversible block number"
      , clients = gauge "p2p_clients_series" e.clients e.unit.peer "Incoming peers: connected to the node"
      , peers = gauge "p2p_peers_series" e.peers e.unit.peer "Outgoing peers: the node connected to them"
      , incoming =
          rate
            "transactions_incoming_series"
            e.incoming
            (perSecond "transaction" "tx/s")
            "Incoming transactions per second"
      , produced =
          rate
            "transactions_produced_series"
            e.produced
            (perSecond "transaction" "tx/s")
            "Transactions per second in blocks that the node produced"
      , cpu =
              rate "block_cpu_series" e.blockCpu U.percent "CPU time of blocks per second, by block type"
          //  by e.field.blockType
      , net =
              rate
                "block_net_series"
                e.blockNet
                (U.unit "byte / second" "B/s")
                "Net usage of blocks per second, by block type"
          //  by e.field.blockType
      }

-- The points of a series as rows: metrics measure them, phases divide them.
let c =
      { name = column "text" "name" U.none "Name of the window"
      , job = column "text" "job" U.none "Job of the target"
      , instance = column "text" "instance" U.none "Target"
      , device = column "text" "device" U.none "Drive"
      , at = column "instant" "t_ns" U.nanosecond "Time of the point"
      , value = \(unit : S.Unit) -> column "real" "value" unit "Value at that time"
      }

let points =
      \(name : Text) -> \(series : S.Series.Type) -> \(more : List S.Column) -> \(doc : Text) ->
        S.Grain::{
        , name
        , relation = series.name
        , key = [ "name" ] # series.by # [ "t_ns" ]
        , columns = [ c.name, c.job, c.instance ] # more # [ c.at, c.value series.unit ]
        , at = c.at.name
        , time = c.at.name
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
      { cpu = points "cpu_point" cpuUsage none "Usage of all CPUs at a point in time"
      , memory = points "memory_point" memoryUsed none "Used memory at a point in time"
      , clients = points "clients_point" node.clients none "Incoming peers at a point in time"
      , peers = points "peers_point" node.peers none "Outgoing peers at a point in time"
      , incoming = points "incoming_point" node.incoming none "Rate of incoming transactions at a point in time"
      , produced = points "produced_point" node.produced none "Rate of produced transactions at a point in time"
      , swap = points "swap_point" swapUsed none "Used swap space at a point in time"
      , disk =
              points "disk_point" writeRate [ c.device ] "Write rate of a drive at a point in time"
          //  { checks =
                [ S.Check::{
                  , code = "state-device"
                  , sql = ../../queries/antelope/checks/state_device.sql as Text
                  , uses = [ "disk_point" ]
                  , message = "there are no samples of the state drive `{device}`, only of {devices}"
                  , hint = "set `state.device` in meta.json to one of these drives"
                  }
                ]
              }
      }
    }
