-- Records of a virtual machine from a Proxmox server: one per step, with values that may be missing.
let S = ../../schema/package.dhall

let E = S.event

let G = S.grain

let U = S.unit

let X = S.x

let formulas = ../formulas.dhall

let bytePerSecond = U.unit "byte / second" "Bytes/s"

let source =
      S.Source::{
      , name = "records"
      , kind = "json-records"
      , hosts = ""
      , logs = [ "rrddata*.json" ]
      , time = [ "time" ]
      , timeForm = "s"
      , body = [ "data" ]
      , lookups = [] : List S.source.Lookup
      , doc = "Records of a virtual machine from a Proxmox server"
      }

-- A record without data has only the time.
let value = \(name : Text) -> \(unit : S.Unit) -> E.optional (E.inUnit unit (E.real name))

let machine =
        { name = "machine"
        , source = source.name
        , forms =
          [ { names = [] : List E.Name
            , unless = [] : List E.Unless
            , fields =
              [ value "cpu" U.none
              , value "maxcpu" U.none
              , value "mem" U.byte
              , value "maxmem" U.byte
              , value "diskread" bytePerSecond
              , value "diskwrite" bytePerSecond
              , value "netin" bytePerSecond
              , value "netout" bytePerSecond
              ]
            }
          ]
        , doc = "A record of a virtual machine, for one step"
        }
      : S.Event

let real = G.column "real"

let c =
      { at = G.column "instant" "t_ns" U.nanosecond "Time of the step"
      , cpu = real "cpu" U.none "Usage of all cores"
      , cores = real "cores" U.none "Number of cores"
      , mem = real "mem" U.byte "Used memory"
      , maxmem = real "maxmem" U.byte "Total memory"
      , diskRead = real "disk_read" bytePerSecond "Disk read rate"
      , diskWrite = real "disk_write" bytePerSecond "Disk write rate"
      , netIn = real "net_in" bytePerSecond "Network receive rate"
      , netOut = real "net_out" bytePerSecond "Network transmit rate"
      }

let readings =
      S.Relation::{
      , name = "readings"
      , sql = ../../../queries/antelope/rrd/readings.sql as Text
      , uses = [ machine.name ]
      , columns = [ c.at, c.cpu, c.cores, c.mem, c.maxmem, c.diskRead, c.diskWrite, c.netIn, c.netOut ]
      , key = [ c.at.name ]
      , checks =
        [ S.Check::{
          , code = "two-values"
          , sql = ../../../queries/antelope/rrd/checks/two_values.sql as Text
          , uses = [ machine.name ]
          , message = "{steps} steps of the records have different values, the first at {instant}: {fields}"
          , hint = "a run needs the records of one machine with steps of one length; check for records of two machines, or of an hour and a day"
          }
        , S.Check::{
          , code = "step-lengths"
          , sql = ../../../queries/antelope/rrd/checks/steps.sql as Text
          , uses = [ "readings" ]
          , message = "the records have steps of {lengths} s; averages weight all steps equally, regardless of their length"
          , severity = "warning"
          }
        ]
      , doc = "Records of a virtual machine, by step"
      }

let reading =
      S.Grain::{
      , name = "reading"
      , relation = readings.name
      , key = readings.key
      , columns = readings.columns
      , at = c.at.name
      , time = c.at.name
      , doc = "A record of a virtual machine, for one step"
      }

-- Sizes of the machine (cores and memory), with the time range of each.
let size =
      { from = G.column "instant" "first_step" U.nanosecond "First step with this size"
      , to = G.column "instant" "last_step" U.nanosecond "Last step with this size"
      , steps = G.column "integer" "steps" U.none "Number of steps with this size"
      }

let machines =
      S.Relation::{
      , name = "machine_sizes"
      , sql = ../../../queries/antelope/rrd/machine_sizes.sql as Text
      , uses = [ readings.name ]
      , columns = [ c.cores, c.maxmem, size.from, size.to, size.steps ]
      , key = [ c.cores.name, c.maxmem.name ]
      , doc = "Sizes of the virtual machine over time"
      }

let sized =
      S.Grain::{
      , name = "machine_size"
      , relation = machines.name
      , key = machines.key
      , columns = machines.columns
      , doc = "A size of the virtual machine: number of cores and total memory"
      }

let metric =
      \(id : Text) -> \(name : Text) -> \(unit : S.Unit) -> \(measure : S.Expression) -> \(doc : Text) ->
        S.Metric::{ id, name, unit, measure, doc, grain = reading.name, accepted = False, better = "lower", width = 5 }

let m =
      { cpu = metric "vm_cpu_usage" "CPU usage" U.percent (X.column c.cpu) "Usage of all cores of the machine"
      , memory = metric "vm_memory_used" "Used memory" U.mebibyte (X.column c.mem) "Used memory of the machine"
      , memoryShare =
          metric "vm_memory_share" "Used memory (share)" U.percent (X.over (X.column c.mem) (X.column c.maxmem))
            "Used memory of the machine, as a share of its total memory"
      , read = metric "vm_disk_read_rate" "Disk read rate" U.kibibytePerSecond (X.column c.diskRead) "Read rate of all disks"
      , write =
          metric "vm_disk_write_rate" "Disk write rate" U.kibibytePerSecond (X.column c.diskWrite) "Write rate of all disks"
      , netIn = metric "vm_network_in" "Network receive rate" U.kibibytePerSecond (X.column c.netIn) "Bytes received from the network, per second"
      , memoryTotal =
          metric "vm_memory_total" "Total memory" U.mebibyte (X.column c.maxmem) "Total memory of the machine"
      , netOut = metric "vm_network_out" "Network transmit rate" U.kibibytePerSecond (X.column c.netOut) "Bytes sent to the network, per second"
      }

let ofSize =
      \(id : Text) -> \(name : Text) -> \(unit : S.Unit) -> \(column : S.Column) -> \(doc : Text) ->
        S.Metric::{ id, name, unit, measure = X.column column, doc, grain = sized.name, accepted = False }

let sizes =
      { cores = ofSize "vm_cores" "Cores" U.none c.cores "Number of cores"
      , memory = ofSize "vm_memory_size" "Memory" U.mebibyte c.maxmem "Total memory"
      , steps = ofSize "vm_steps" "Steps" U.none size.steps "Number of steps with this size"
      }

let ofAll = formulas.diskWritesPerYear m.write

let writes =
      { decimal = ofAll.decimal // { id = "vm_disk_writes_per_year" }
      , binary = ofAll.binary // { id = "vm_disk_writes_per_year_binary" }
      }

in  { source
    , machine
    , readings
    , reading
    , machines
    , sized
    , column = size
    , sizes
    , writes
    , metric = m
    , metrics =
      [ m.cpu
      , m.memory
      , m.memoryTotal
      , m.memoryShare
      , m.read
      , m.write
      , m.netIn
      , m.netOut
      , sizes.cores
      , sizes.memory
      , sizes.steps
      , writes.decimal
      , writes.binary
      ]
    }
