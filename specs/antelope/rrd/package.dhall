-- What a Proxmox server has of a virtual machine: records of steps, with values that may be missing.
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
      , doc = "Records of the virtual machine, as a Proxmox server has them"
      }

-- A step without data has no key but the time.
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
        , doc = "A step of the records of a virtual machine"
        }
      : S.Event

let real = G.column "real"

let c =
      { at = G.column "instant" "t_ns" U.nanosecond "Time of the step"
      , cpu = real "cpu" U.none "Use of all cores"
      , cores = real "cores" U.none "Cores that the machine has"
      , mem = real "mem" U.byte "Memory that is used"
      , maxmem = real "maxmem" U.byte "Memory that the machine has"
      , diskRead = real "disk_read" bytePerSecond "Read from its disks"
      , diskWrite = real "disk_write" bytePerSecond "Written to its disks"
      , netIn = real "net_in" bytePerSecond "Received from the network"
      , netOut = real "net_out" bytePerSecond "Sent to the network"
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
          , message = "{steps} steps of the records have two values, the first at {instant}: {what}"
          , hint = "a run has the records of one machine, in steps of one length: is this of two, or of an hour and a day?"
          }
        , S.Check::{
          , code = "step-lengths"
          , sql = ../../../queries/antelope/rrd/checks/steps.sql as Text
          , uses = [ "readings" ]
          , message = "the records have steps of {lengths} s: averages count each alike, whatever its length"
          , severity = "warning"
          }
        ]
      , doc = "Steps of the records of a virtual machine"
      }

let reading =
      S.Grain::{
      , name = "reading"
      , relation = readings.name
      , key = readings.key
      , columns = readings.columns
      , at = c.at.name
      , doc = "A step of the records of a virtual machine"
      }

-- What the machine has, and from when to when: a row for each size that it had.
let size =
      { from = G.column "instant" "first_step" U.nanosecond "First step of this size"
      , to = G.column "instant" "last_step" U.nanosecond "Last step of this size"
      , steps = G.column "integer" "steps" U.none "Steps of this size"
      }

let machines =
      S.Relation::{
      , name = "machine_sizes"
      , sql = ../../../queries/antelope/rrd/machine_sizes.sql as Text
      , uses = [ readings.name ]
      , columns = [ c.cores, c.maxmem, size.from, size.to, size.steps ]
      , key = [ c.cores.name, c.maxmem.name ]
      , doc = "Sizes that the virtual machine had"
      }

let sized =
      S.Grain::{
      , name = "machine_size"
      , relation = machines.name
      , key = machines.key
      , columns = machines.columns
      , doc = "A size of the virtual machine: its cores and its memory"
      }

let metric =
      \(id : Text) -> \(name : Text) -> \(unit : S.Unit) -> \(measure : S.Expression) -> \(doc : Text) ->
        S.Metric::{ id, name, unit, measure, doc, grain = reading.name, accepted = False, better = "lower", width = 5 }

let m =
      { cpu = metric "vm_cpu_usage" "CPU use" U.percent (X.column c.cpu) "Use of the machine's cores, of all of them"
      , memory = metric "vm_memory_used" "Memory used" U.mebibyte (X.column c.mem) "Memory that the machine uses"
      , memoryShare =
          metric "vm_memory_share" "Memory used, of all" U.percent (X.over (X.column c.mem) (X.column c.maxmem))
            "Memory that the machine uses, of what it has"
      , read = metric "vm_disk_read_rate" "Disk reads" U.kibibytePerSecond (X.column c.diskRead) "Read from disks, a second"
      , write =
          metric "vm_disk_write_rate" "Disk writes" U.kibibytePerSecond (X.column c.diskWrite) "Written to disks, a second"
      , netIn = metric "vm_network_in" "Received" U.kibibytePerSecond (X.column c.netIn) "Received from the network, a second"
      , memoryTotal =
          metric "vm_memory_total" "Memory of the machine" U.mebibyte (X.column c.maxmem) "Memory that the machine has"
      , netOut = metric "vm_network_out" "Sent" U.kibibytePerSecond (X.column c.netOut) "Sent to the network, a second"
      }

let ofSize =
      \(id : Text) -> \(name : Text) -> \(unit : S.Unit) -> \(column : S.Column) -> \(doc : Text) ->
        S.Metric::{ id, name, unit, measure = X.column column, doc, grain = sized.name, accepted = False }

let sizes =
      { cores = ofSize "vm_cores" "Cores" U.none c.cores "Cores of a size of the machine"
      , memory = ofSize "vm_memory_size" "Memory" U.mebibyte c.maxmem "Memory of a size of the machine"
      , steps = ofSize "vm_steps" "Steps" U.none size.steps "Steps in which the machine had this size"
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
