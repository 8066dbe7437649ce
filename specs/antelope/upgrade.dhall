-- The upgrade report: resource usage of a host before and after its node was upgraded.
let S = ../schema/package.dhall

let B = S.block

let R = S.report

let U = S.unit

let X = S.x

let samples = ./samples.dhall

let constant = samples.constant

let phases = ./phases.dhall

let s = ./series.dhall

let point = s.point

let formulas = ./formulas.dhall

let rrd = ./rrd/package.dhall

let vm = rrd.metric

let measured =
      \(m : { id : Text, name : Text, grain : S.Grain.Type, of : S.Unit, unit : S.Unit, doc : Text }) ->
        S.Metric::{
        , id = m.id
        , name = m.name
        , grain = m.grain.name
        , measure = X.column (s.column.value m.of)
        , accepted = False
        , unit = m.unit
        , better = "lower"
        , width = 6
        , doc = m.doc
        }

let neither = { better = "neither" }

let metric =
      { cpuUsage =
          measured
            { id = "cpu_usage", name = "CPU usage", grain = point.cpu, of = s.cpuUsage.unit, unit = U.percent
            , doc = "Usage of all CPUs of the host: 100 % minus the mean idle share of the CPUs" }
      , memoryUsed =
          measured
            { id = "memory_used", name = "Used memory", grain = point.memory, of = s.memoryUsed.unit, unit = U.mebibyte
            , doc = "Total memory of the host minus the memory available to programs without swapping" }
      , swapUsed =
          measured
            { id = "swap_used", name = "Used swap", grain = point.swap, of = s.swapUsed.unit, unit = U.mebibyte
            , doc = "Total swap space of the host minus free swap space" }
      , diskWriteRate =
              measured
                { id = "disk_write_rate", name = "Disk write rate", grain = point.disk, of = s.writeRate.unit
                , unit = U.unit "kilobyte / second" "kB/s"
                , doc = "Write rate of the state drive (1 kB = 1000 bytes)" }
          //  { where = X.equals (X.column s.column.device) (S.source.constant constant.device) }
      , clients =
              measured
                { id = "peers_incoming", name = "Incoming peers", grain = point.clients, of = s.node.clients.unit
                , unit = samples.unit.peer, doc = "Incoming peers: connected to the node" }
          //  neither
      , peers =
              measured
                { id = "peers_outgoing", name = "Outgoing peers", grain = point.peers, of = s.node.peers.unit
                , unit = samples.unit.peer, doc = "Outgoing peers: the node connected to them" }
          //  neither
      , incoming =
              measured
                { id = "transactions_incoming_rate", name = "Incoming transactions", grain = point.incoming
                , of = s.node.incoming.unit, unit = samples.unit.transactionPerSecond
                , doc = "Incoming transactions per second" }
          //  neither
      , produced =
              measured
                { id = "transactions_produced_rate", name = "Produced transactions", grain = point.produced
                , of = s.node.produced.unit, unit = samples.unit.transactionPerSecond
                , doc = "Transactions per second in blocks that the node produced" }
          //  neither
      }

let writes = formulas.diskWritesPerYear metric.diskWriteRate

let node = [ metric.clients, metric.peers, metric.incoming, metric.produced ]

let c = constant

let instance = \(title : Text) -> \(series : S.Series.Type) -> B.lines title series "instance"

let upgrade =
      S.Report::{
      , name = "upgrade"
      , title = "Upgrade of {base}"
      , intro = "Resource usage of a host before and after its node was upgraded."
      , phases = [ phases.before, phases.after, phases.again ]
      , alternatives = B.alternatives [ samples.samples, rrd.source ]
      , parts =
        [ B.part
            "Host and configuration"
            (   B.prose "prose/upgrade.md"
              # B.facts
                  [ c.host, c.before, c.after, c.modeBefore, c.modeAfter, c.device, c.upgrade, c.secondStart, c.os
                  , c.hypervisor, c.cpu, c.memory, c.swap, c.stateDrive, c.blocksDrive, c.stateSize, c.maxClients
                  , c.plugins, c.window, c.step
                  ]
              # B.listings
                  [ B.listing
                      "Virtual machine"
                      rrd.sized
                      [ rrd.column.from, rrd.column.to ]
                      [ rrd.sizes.cores, rrd.sizes.memory, rrd.sizes.steps ]
                  ]
            )
        , B.part
            "CPU"
            (   B.prose "prose/upgrade_cpu.md"
              # B.timelines [ instance "CPU usage" s.cpuUsage ]
              # B.sections [ R.section "CPU before and after" [ metric.cpuUsage ] ]
            )
        , B.part
            "Memory"
            (   B.prose "prose/upgrade_memory.md"
              # B.timelines [ instance "Used memory" s.memoryUsed, instance "Used swap" s.swapUsed ]
              # B.sections [ R.section "Memory before and after" [ metric.memoryUsed, metric.swapUsed ] ]
            )
        , B.part
            "Disk"
            (   B.prose "prose/upgrade_disk.md"
              # B.timelines [ B.lines "Disk write rate" s.writeRate "device" ]
              # B.sections [ R.section "Disk write rate before and after" [ metric.diskWriteRate ] ]
            )
        , B.part
            "CPU of the virtual machine"
            (   B.prose "prose/upgrade_vm_cpu.md"
              # B.curves [ B.curve "CPU usage of the virtual machine" rrd.reading [ vm.cpu ] ]
              # B.sections [ R.section "CPU usage of the virtual machine before and after" [ vm.cpu ] ]
            )
        , B.part
            "Memory of the virtual machine"
            (   B.prose "prose/upgrade_vm_memory.md"
              # B.curves [ B.curve "Memory usage" rrd.reading [ vm.memory, vm.memoryTotal ] ]
              # B.sections [ R.section "Memory of the virtual machine before and after" [ vm.memory, vm.memoryShare ] ]
            )
        , B.part
            "Disk and network of the virtual machine"
            (   B.prose "prose/upgrade_vm_disk.md"
              # B.curves
                  [ B.curve "Disk write and read rates" rrd.reading [ vm.write, vm.read ]
                  , B.curve "Network traffic" rrd.reading [ vm.netIn, vm.netOut ]
                  ]
              # B.sections
                  [ R.section
                      "Disk and network of the virtual machine before and after"
                      [ vm.write, vm.read, vm.netIn, vm.netOut ]
                  ]
            )
        , B.part
            "Endurance"
            (   B.prose "prose/upgrade_endurance.md"
              # B.sections
                  [ R.section "Disk writes per year before and after" [ writes.decimal, writes.binary ]
                  , R.section
                      "Disk writes of the virtual machine per year before and after"
                      [ rrd.writes.decimal, rrd.writes.binary ]
                  ]
              # B.classTables
                  [ formulas.usedUp metric.diskWriteRate
                  , formulas.usedUp vm.write // { title = "Drive lifetime in years (virtual machine)" }
                  ]
            )
        , B.part
            "Node"
            (   B.prose "prose/upgrade_node.md"
              # B.timelines
                  [ instance "Head block" s.node.head
                  , instance "Last irreversible block" s.node.irreversible
                  , instance "Incoming peers" s.node.clients
                  , instance "Outgoing peers" s.node.peers
                  , instance "Incoming transactions" s.node.incoming
                  , instance "Produced transactions" s.node.produced
                  , B.lines "CPU time of blocks" s.node.cpu "block_type"
                  , B.lines "Net usage of blocks" s.node.net "block_type"
                  ]
              # B.sections [ R.section "Peers and transactions before and after" node ]
            )
        , B.part
            "Conclusion"
            (   B.prose "prose/upgrade_conclusion.md"
              # B.conclusions
                  [ B.conclusion
                      "Expectations of the upgrade"
                      [ B.notWorse metric.cpuUsage 10, B.notWorse metric.memoryUsed 10, B.falls metric.diskWriteRate 50 ]
                  , B.conclusion
                      "Expectations of the upgrade (virtual machine)"
                      [ B.notWorse vm.cpu 10, B.notWorse vm.memory 10, B.falls vm.write 50 ]
                  ]
            )
        ]
      , label = constant.ident.name
      , observations = Some
          ( ./observations.dhall
              { cpu = metric.cpuUsage
              , memory = metric.memoryUsed
              , writes = metric.diskWriteRate
              , writesOfAYear = writes.decimal
              , vmCpu = vm.cpu
              , vmMemory = vm.memory
              , vmWrites = vm.write
              , vmWritesOfAYear = rrd.writes.decimal
              , node
              }
          )
      , doc = "Resource usage of a host before and after its node was upgraded"
      }

in  { metric
    , metrics =
          [ metric.cpuUsage, metric.memoryUsed, metric.swapUsed, metric.diskWriteRate, writes.decimal, writes.binary ]
        # node
    , upgrade
    }
