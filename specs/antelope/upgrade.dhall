-- The upgrade report: what a host bears before and after its node was upgraded.
let S = ../schema/package.dhall

let A = S.article

let U = S.unit

let X = S.x

let samples = ./samples.dhall

let constant = samples.constant

let phases = ./phases.dhall

let s = ./series.dhall

let point = s.point

let formulas = ./formulas.dhall

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

let metric =
      { cpuUsage =
          measured
            { id = "cpu_usage", name = "CPU usage", grain = point.cpu, of = s.cpuUsage.unit, unit = U.percent
            , doc = "Use of all CPUs of the host: 100 % less the mean of the shares of time that they were idle" }
      , memoryUsed =
          measured
            { id = "memory_used", name = "Memory used", grain = point.memory, of = s.memoryUsed.unit, unit = U.mebibyte
            , doc = "Memory of the host less what programs can still have without swapping" }
      , swapUsed =
          measured
            { id = "swap_used", name = "Swap used", grain = point.swap, of = s.swapUsed.unit, unit = U.mebibyte
            , doc = "Swap space of the host less what is free" }
      , diskWriteRate =
              measured
                { id = "disk_write_rate", name = "Disk writes", grain = point.disk, of = s.writeRate.unit
                , unit = U.unit "kilobyte / second" "kB/s"
                , doc = "What is written to the drive that holds the state, a second (1 kB is 1000 bytes)" }
          //  { where = X.equals (X.column s.column.device) (S.source.constant constant.device) }
      }

let writes = formulas.diskWritesPerYear metric.diskWriteRate

let part = A.Part

let upgrade =
      S.Article::{
      , name = "upgrade"
      , title = "Upgrade of {base}"
      , intro = "What a host bears before and after its node was upgraded."
      , phases = [ phases.before, phases.after ]
      , parts =
        [ part::{
          , title = "Host and configuration"
          , prose = "prose/upgrade.md"
          , facts =
              A.facts
                [ constant.host
                , constant.before
                , constant.after
                , constant.modeBefore
                , constant.modeAfter
                , constant.device
                , constant.upgrade
                , constant.window
                , constant.step
                ]
          }
        , part::{
          , title = "CPU"
          , prose = "prose/upgrade_cpu.md"
          , timelines = [ A.lines "CPU usage" s.cpuUsage "instance" ]
          , comparisons = [ A.comparison "CPU before and after" [ metric.cpuUsage ] ]
          }
        , part::{
          , title = "Memory"
          , prose = "prose/upgrade_memory.md"
          , timelines =
            [ A.lines "Memory used" s.memoryUsed "instance", A.lines "Swap used" s.swapUsed "instance" ]
          , comparisons = [ A.comparison "Memory before and after" [ metric.memoryUsed, metric.swapUsed ] ]
          }
        , part::{
          , title = "Disk"
          , prose = "prose/upgrade_disk.md"
          , timelines = [ A.lines "Disk writes" s.writeRate "device" ]
          , comparisons = [ A.comparison "Disk writes before and after" [ metric.diskWriteRate ] ]
          }
        , part::{
          , title = "Endurance"
          , prose = "prose/upgrade_endurance.md"
          , comparisons = [ A.comparison "Writes in a year before and after" [ writes.decimal, writes.binary ] ]
          , classTables = [ formulas.usedUp metric.diskWriteRate ]
          }
        , part::{
          , title = "Node"
          , prose = "prose/upgrade_node.md"
          , timelines =
            [ A.lines "Head block" s.node.head "instance"
            , A.lines "Last irreversible block" s.node.irreversible "instance"
            , A.lines "Peers that have connected" s.node.clients "instance"
            , A.lines "Peers connected to" s.node.peers "instance"
            , A.lines "Transactions coming in" s.node.incoming "instance"
            , A.lines "Transactions produced" s.node.produced "instance"
            , A.lines "CPU time of blocks" s.node.cpu "block_type"
            , A.lines "Size of blocks" s.node.net "block_type"
            ]
          }
        , part::{
          , title = "Conclusion"
          , prose = "prose/upgrade_conclusion.md"
          , conclusions =
            [ A.conclusion
                "What was expected of the upgrade"
                [ A.notWorse metric.cpuUsage 10, A.notWorse metric.memoryUsed 10, A.falls metric.diskWriteRate 50 ]
            ]
          }
        ]
      , style = "prefixed"
      , label = constant.ident.name
      , doc = "What a host bears before and after its node was upgraded"
      }

in  { metric
    , metrics =
      [ metric.cpuUsage, metric.memoryUsed, metric.swapUsed, metric.diskWriteRate, writes.decimal, writes.binary ]
    , upgrade
    }
