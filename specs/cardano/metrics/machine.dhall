-- Machine performance: one sample per slot of a host, one distribution per host.
-- Names and descriptions are literally those of the published dictionary, whose MB and kB are MiB and KiB.
let S = ../../schema/package.dhall

let breaks = ../breaks.dhall

let X = S.x

let U = S.unit

let D = ../units.dhall

let slot = ../grains/slot.dhall

let span = ../grains/span.dhall

let host = ../grains/host.dhall

let at = slot.at

let c = slot.column

-- Compatibility: in published numbers, all samples of a host without samples are 0.
let sampledOnly = False

let machine = { grain = slot.name, per = slot.host.name, sampledOnly }

let delay =
      \(m : { id : Text, name : Text, measure : S.Expression, doc : Text }) ->
        S.Metric::(m /\ machine /\ { unit = U.second, better = "lower" })

let elapsed = \(from : S.Instant.Type) -> \(to : S.Instant.Type) -> S.elapsed { from = [ from ], to }

let share =
      \(m : { id : Text, name : Text, measure : S.Expression, doc : Text }) ->
        S.Metric::(m /\ machine /\ { unit = U.percent, better = "lower", width = 3 })

let collections =
      \(m : { id : Text, name : Text, measure : S.Expression, doc : Text }) ->
        S.Metric::(m /\ machine /\ { unit = U.event, better = "lower", width = 3 })

-- Compatibility: each sample of a size is truncated to whole units.
let memory =
      \(m : { id : Text, name : Text, column : S.Column, doc : Text }) ->
        S.Metric::( m.{ id, name, doc } /\ machine /\
          { measure = X.whole U.mebibyte (X.column m.column), unit = U.mebibyte, better = "lower", width = 5 })

-- Compatibility: increases count as rates per second (one resources event per second), truncated to whole units.
let rate =
      \(whole : U.Unit) ->
      \(unit : U.Unit) ->
      \(m : { id : Text, name : Text, column : S.Column, doc : Text }) ->
        S.Metric::( m.{ id, name, doc } /\ machine /\
          { measure = X.asUnit unit (X.whole whole (X.column m.column)), unit, better = "lower", width = 5 })

let inMebibytes = rate U.mebibyte U.mebibytePerSecond

let inKibibytes = rate U.kibibyte U.kibibytePerSecond

let spans =
      \(m : { id : Text, name : Text, measure : S.Expression, where : S.Expression, doc : Text }) ->
        S.Metric::( m /\
          { grain = span.name
          , per = span.host.name
          , sampledOnly
          , accepted = False
          , unit = D.slot
          , better = "lower"
          , width = 5
          })

let around =
      \(boundary : S.Expression) ->
        X.all
          [ X.below (X.column span.firstEpochSlot) boundary, X.above (X.column span.lastEpochSlot) boundary ]

-- Compatibility: a boundary has 3 slots.
let boundarySlots = X.asUnit D.slot (X.natural 3)

let rewardSlots =
      X.plus
        boundarySlots
        (X.floor (X.times (X.real 0.4) (S.source.constant (../source.dhall).constant.epochLength)))

in  { starts =
        S.Metric::( machine /\
          { id = "cdfStarts"
          , name = "Forge loop starts"
          , doc = "For any given slot, how many forging loop starts were registered"
          , measure = X.column slot.starts
          , unit = U.count
          , better = "higher"
          })
    , cpu =
        share
          { id = "CentiCpu"
          , name = "Process CPU usage"
          , measure = X.column c.cpu
          , doc = "Kernel-reported CPU process usage, % of a single core"
          }
    , gc =
        share
          { id = "CentiGC"
          , name = "RTS GC CPU usage"
          , measure = X.column c.gc
          , doc = "RTS-reported GC CPU usage, % of a single core"
          }
    , mut =
        share
          { id = "CentiMut"
          , name = "RTS Mutator CPU usage"
          , measure = X.column c.mut
          , doc = "RTS-reported mutator CPU usage, % of a single core"
          }
    , gcsMajor =
        collections
          { id = "GcsMajor"
          , name = "Major GCs"
          , measure = X.column c.gcsMajor
          , doc = "Major garbage collection RTS events"
          }
    , gcsMinor =
        collections
          { id = "GcsMinor"
          , name = "Minor GCs"
          , measure = X.column c.gcsMinor
          , doc = "Minor garbage collection RTS events"
          }
    , rss =
        memory
          { id = "RSS"
          , name = "Kernel RSS"
          , column = c.rss
          , doc = "Kernel-reported RSS (Resident Set Size) of the process, MB"
          }
    , heap = memory { id = "Heap", name = "RTS heap size", column = c.heap, doc = "RTS-reported heap size, MB" }
    , live =
        memory
          { id = "Live"
          , name = "RTS live GC dateset"
          , column = c.live
          , doc = "RTS-reported GC live data size, MB"
          }
    , alloc =
        inMebibytes
          { id = "Alloc"
          , name = "RTS alloc rate"
          , column = c.alloc
          , doc = "RTS-reported allocation rate, MB/sec"
          }
    , netRd =
        inKibibytes { id = "NetRd", name = "Network reads", column = c.netRd, doc = "Network reads, kB/sec" }
    , netWr =
        inKibibytes { id = "NetWr", name = "Network writes", column = c.netWr, doc = "Network writes, kB/sec" }
    , fsRd =
        inKibibytes
          { id = "FsRd"
          , name = "Filesystem reads"
          , column = c.fsRd
          , doc =
              "Number of bytes which this process really did cause to be fetched from the storage layer, per second"
          }
    , fsWr =
        inKibibytes
          { id = "FsWr"
          , name = "Filesystem writes"
          , column = c.fsWr
          , doc =
              "Number of bytes which this process caused to be sent to the storage layer, modulo truncate(), per second"
          }
    , started =
        delay
          { id = "cdfStarted"
          , name = "Forge loop tardiness"
          , measure = elapsed at.slotStart at.started
          , doc = "Forge loop iteration start delay (TraceStartLeadershipCheck), relative to slot start"
          }
    , blockContext =
        delay
          { id = "cdfBlkCtx"
          , name = "Block context acquisition delay"
          , measure = elapsed at.started at.blockContext
          , doc = "Block context acquired (TraceBlockContext), relative to forge loop beginning"
          }
    , ledgerState =
        delay
          { id = "cdfLgrState"
          , name = "Ledger state acquisition delay"
          , measure = elapsed at.blockContext at.ledgerState
          , doc = "Ledger state acquired (TraceLedgerState), relative to block context acquisition"
          }
    , ledgerView =
        delay
          { id = "cdfLgrView"
          , name = "Ledger view acquisition delay"
          , measure = elapsed at.ledgerState at.ledgerView
          , doc = "Ledger view acquired (TraceLedgerView), relative to ledger state acquisition"
          }
    , leading =
        delay
          { id = "cdfLeading"
          , name = "Leadership check duration"
          , measure = S.elapsed { from = [ at.ledgerView, at.started ], to = at.decided }
          , doc =
              "Leadership check duration (TraceNodeIsNotLeader, TraceNodeIsLeader), relative to ledger view acquisition"
          }
    , blockGap =
        -- Compatibility: a number of slots, printed as seconds.
        S.Metric::( machine /\
          { id = "cdfBlockGap"
          , name = "Interblock gap"
          , doc = "Time between blocks"
          , measure = X.asUnit U.second (X.column c.blockGap)
          , unit = U.second
          , better = "lower"
          })
    , density =
        S.Metric::( machine /\
          { id = "cdfDensity"
          , name = "Chain density"
          , doc = "Block/slot ratio, for the last 'k' slots"
          , measure = X.column c.density
          , unit = U.ratio
          , better = "higher"
          , width = 5
          })
    , spanCpu =
        -- Compatibility: as published, the number of slots minus 1; for spans at boundaries the number of slots.
            spans
              { id = "cdfSpanLensCpu"
              , name = "CPU 85% spans"
              , measure = X.minus (X.column span.last) (X.column span.first)
              , where = X.nothing
              , doc = "Length of over-85% CPU usage peaks, slots"
              }
        //  { breaks = breaks.spans }
    , spanCpuEpoch =
        spans
          { id = "cdfSpanLensCpuEpoch"
          , name = "CPU spans at Ep boundary"
          , measure = X.column span.length
          , where = around boundarySlots
          , doc = "Length of over-85% CPU usage peaks, starting at epoch boundary, slots"
          }
    , spanCpuReward =
        spans
          { id = "cdfSpanLensCpuRwd"
          , name = "CPU spans at reward update"
          , measure = X.column span.length
          , where = around rewardSlots
          , doc = "Length of over-85% CPU usage peaks, starting ahead of the reward update, slots"
          }
    , blkIo =
        share
          { id = "CentiBlkIO"
          , name = "Block IO waits"
          , measure = X.column c.blkIo
          , doc = "Kernel-reported time spent waiting for storage, % of a single core"
          }
    , threads =
        S.Metric::( machine /\
          { id = "Threads"
          , name = "Threads"
          , doc = "Number of threads of the process"
          , measure = X.column c.threads
          , unit = U.none
          , width = 5
          })
    , leads =
        S.Metric::( machine /\
          { id = "cdfLeads"
          , name = "Leaderships"
          , doc = "For any given slot, how many positive leadership decisions were registered"
          , measure = X.column slot.leads
          , unit = U.count
          })
    , utxo =
        S.Metric::( machine /\
          { id = "cdfUtxo"
          , name = "UTxO size"
          , doc = "Entries of the UTxO set, from the last record of the slot"
          , measure = X.column c.utxo
          , unit = U.none
          , width = 9
          })
    , hostSlots =
        S.Metric::{
        , id = "cdfHostSlots"
        , name = "Analysed slots"
        , doc = "For each host, last minus first analysed slot"
        , grain = host.name
        , measure = X.minus (X.column host.last) (X.column host.first)
        , accepted = False
        , per = host.host.name
        , sampledOnly
        , unit = D.slot
        , width = 9
        }
    }
