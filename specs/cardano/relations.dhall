-- Relations: what declarations cannot express, as SQL over events, other relations and grains.
let S = ../schema/package.dhall

let G = S.grain

let U = S.unit

let D = ./units.dhall

let events = ./events.dhall

let column = G.column

let c =
      { host = column "text" "host" U.none "Host"
      , seq = column "integer" "seq" U.none "Position in the host's log"
      , at = column "instant" "t_ns" U.nanosecond "Time of the record"
      , block = column "text" "block" U.none "Hash of the block"
      , blockNo = column "integer" "block_no" D.block "Block number"
      , slot = column "integer" "slot" D.slot "Slot"
      , role = column "text" "role" U.none "forger, observer or error"
      , blockPrev = column "text" "block_prev" U.none "Hash of the parent block"
      , forger = column "text" "forger" U.none "Host that forged the block"
      , battles = column "unsigned" "battles" D.block "Number of other blocks with the same block number"
      , slotStart = column "instant" "slot_start" U.nanosecond "Start of the block's slot"
      , adopted = column "instant" "adopted" U.nanosecond "Time at which the host adopted the block"
      , total = column "integer" "total" D.block "Blocks that the host forged"
      , chained = column "integer" "chained" D.block "Forged blocks that are on the main chain"
      , filtered = column "integer" "filtered" D.block "Forged blocks on the main chain that the filters accept"
      , mark = column "text" "mark" U.none "started or resources"
      , opening = column "integer" "opening" D.slot "First slot of the host's timeline"
      , latest = column "integer" "latest" D.slot "Latest slot of the timeline after the event"
      , kind = column "text" "kind" U.none "opening, reached or gap"
      , reachedSeq = column "integer" "reached_seq" U.none "Position in the log of the event that reached the slot"
      , before = column "integer" "before" D.slot "Latest slot of the timeline before the event"
      , blockGap = column "unsigned" "block_gap" D.slot "Slots since the tip of the chain changed"
      , epoch = column "integer" "epoch" D.epoch "Epoch of the slot; 0 for an opening slot"
      , epochSlot = column "integer" "epoch_slot" D.slot "Slot within its epoch; 0 for an opening slot"
      , trueEpochSlot = column "integer" "true_epoch_slot" D.slot "Slot within its epoch"
      , safeInterval = column "integer" "safe_interval" U.none "Safe interval of the slot; 0 for an opening slot"
      , density = column "real" "density" U.none "Blocks per slot, from the last record of the slot"
      , utxo = column "integer" "utxo" U.none "Entries of the UTxO set, from the last record of the slot"
      , cpu = column "unsigned" "cpu" U.percent "CPU usage of the process, as a share of a core, rounded up"
      , gc = column "unsigned" "gc" U.percent "CPU usage of garbage collection, as a share of a core, rounded up"
      , mut = column "unsigned" "mut" U.percent "CPU usage of the mutator, as a share of a core, rounded up"
      , blkIo = column "unsigned" "blk_io" U.percent "Share of time spent waiting for storage, rounded up"
      , gcsMajor = column "unsigned" "gcs_major" U.event "Major garbage collections"
      , gcsMinor = column "unsigned" "gcs_minor" U.event "Minor garbage collections"
      , alloc = column "unsigned" "alloc" U.byte "Allocated bytes"
      , netRd = column "unsigned" "net_rd" U.byte "Bytes read from the network"
      , netWr = column "unsigned" "net_wr" U.byte "Bytes written to the network"
      , fsRd = column "unsigned" "fs_rd" U.byte "Bytes fetched from storage"
      , fsWr = column "unsigned" "fs_wr" U.byte "Bytes sent to storage"
      , rss = column "unsigned" "rss" U.byte "Resident set size"
      , heap = column "unsigned" "heap" U.byte "Heap size of the runtime"
      , live = column "unsigned" "live" U.byte "Live data after the last garbage collection"
      , threads = column "unsigned" "threads" U.none "Number of threads"
      , fell = column "boolean" "fell" U.none "Whether a counter is lower than in the previous event"
      }

let clocks =
      S.Relation::{
      , name = "clocks"
      , sql = ../../queries/cardano/clocks.sql as Text
      , uses = [ events.leadershipCheckStarted.name ]
      , columns =
        [ c.host
        , column "integer" "late" U.nanosecond "Median time of leadership checks since the start of their slot"
        , column "integer" "apart" U.nanosecond "Difference of that median from the median host"
        ]
      , key = [ "host" ]
      , doc = "Offset of each host's timestamps from the slots and from the other hosts"
      }

-- Checks that the genesis has the slots of the logs, and that the clocks of the hosts agree. They precede the other
-- checks, which would report missing logs.
let slotChecks =
      let clock =
            { uses = [ clocks.name ]
            , message = "the timestamps of {host} are {distance} those of the other hosts"
            , hint = "synchronize the clocks of the hosts, and check that the log of {host} is of this run"
            }

      let slot =
            { uses = [ clocks.name, events.leadershipCheckStarted.name ]
            , message =
                "{outside} of {checks} leadership checks are outside the slot that they name, first on {host} for slot {slot} at {instant}, which is {implied} by systemStart and slotLength; the timestamps of {host} are {distance} the slots of the genesis"
            , hint =
                "check that the genesis is that of the run. Slots of several lengths (mainnet had slots of 20 s before Shelley) are not supported"
            }

      in  [ S.Check::( slot // { code = "slots-unfit", sql = ../../queries/cardano/checks/slots_unfit.sql as Text } )
          , S.Check::(     clock
                       //  { code = "clock-apart", sql = ../../queries/cardano/checks/clock_apart.sql as Text }
                     )
          , S.Check::(     clock
                       //  { code = "clock-drift"
                           , sql = ../../queries/cardano/checks/clock_drift.sql as Text
                           , severity = "warning"
                           }
                     )
          , S.Check::(     slot
                       //  { code = "slots-drift"
                           , sql = ../../queries/cardano/checks/slots_drift.sql as Text
                           , severity = "warning"
                           }
                     )
          ]

let roles =
      S.Relation::{
      , name = "roles"
      , sql = ../../queries/cardano/roles.sql as Text
      , uses =
        [ events.blockForged.name
        , events.headerSeen.name
        , events.fetchRequested.name
        , events.fetchCompleted.name
        , events.headerAnnounced.name
        , events.blockSent.name
        , events.blockAdopted.name
        ]
      , columns = [ c.host, c.block, c.role ]
      , key = [ "host", "block" ]
      , checks =
          slotChecks
        # [ S.Check::{
          , code = "blocks-apart"
          , sql = ../../queries/cardano/checks/blocks_apart.sql as Text
          , uses = [ clocks.name, events.blockForged.name, events.headerSeen.name ]
          , message = "the first records of blocks on {host} are {distance} those of the other hosts (median of {blocks} blocks); check its clock"
          , severity = "warning"
          }
        , S.Check::{
          , code = "unknown-parent"
          , sql = ../../queries/cardano/checks/unknown_parent.sql as Text
          , uses = [ events.blockForged.name ]
          , message =
              "{host} forged block {block} (number {block_no}, slot {slot}) on a parent that {parent}: {block_prev}"
          , hint = "{advice}"
          }
        , S.Check::{
          , code = "unknown-forger"
          , sql = ../../queries/cardano/checks/unknown_forger.sql as Text
          , uses = [ events.blockForged.name, events.headerSeen.name ]
          , message = "no host forged block {block} (number {block_no}, slot {slot}), first seen by {hosts} at {instant}"
          , hint = "check whether the log of a host is missing or truncated at its start"
          }
        , S.Check::{
          , code = "no-adoption"
          , sql = ../../queries/cardano/checks/no_adoption.sql as Text
          , uses =
            [ events.leadershipCheckStarted.name
            , events.blockForged.name
            , events.blockAdopted.name
            , events.forkSwitched.name
            ]
          , message = "no block was forged or adopted on {hosts}, although leadership checks ran there"
          , hint = "check that the node has peers, and that `assay list events` has the names of its events"
          , severity = "warning"
          }
        ]
      , doc = "The role of a host for a block: its first event of the block's hash decides"
      }

let blocks =
      S.Relation::{
      , name = "blocks"
      , sql = ../../queries/cardano/blocks.sql as Text
      , uses = [ roles.name, events.blockForged.name, events.headerSeen.name ]
      , columns = [ c.host, c.block, c.role, c.blockNo, c.slot, c.blockPrev ]
      , key = [ "host", "block" ]
      , doc = "The records of the forger and the observers of each block"
      }

let chain =
      S.Relation::{
      , name = "chain"
      , sql = ../../queries/cardano/chain.sql as Text
      , uses = [ blocks.name ]
      , columns = [ c.block, c.blockNo, c.slot, c.blockPrev, c.forger, c.battles ]
      , key = [ "block" ]
      , checks =
        [ S.Check::{
          , code = "no-forger"
          , sql = ../../queries/cardano/checks/no_forger.sql as Text
          , uses = [ "chain", blocks.name, roles.name, events.blockForged.name, events.headerSeen.name ]
          , message =
              "the main chain needs block {block} (number {block_no}), but no host counts as its forger; seen by {hosts}"
          , hint = "a host that forged it twice, or also fetched it, does not count as its forger"
          }
        , S.Check::{
          , code = "no-chain"
          , sql = ../../queries/cardano/checks/no_chain.sql as Text
          , uses = [ "chain", blocks.name ]
          , message = "there is no chain to analyse: the logs have {known} blocks, and the highest block is left out"
          , hint = "check whether the run stopped before its second block"
          }
        ]
      , doc = "The main chain, from the block below the highest block down to block 0"
      }

let observations =
      S.Relation::{
      , name = "observations"
      , sql = ../../queries/cardano/observations.sql as Text
      , uses = [ chain.name, roles.name ]
      , columns = [ c.block, c.blockNo, c.host ]
      , key = [ "block", "host" ]
      , doc = "The blocks of the main chain with every host that observed them"
      }

let adoptions =
      S.Relation::{
      , name = "adoptions"
      , sql = ../../queries/cardano/adoptions.sql as Text
      , uses = [ "block", "observation" ]
      , columns = [ c.block, c.host, c.slotStart, c.adopted ]
      , key = [ "block", "host" ]
      , doc = "All adoptions of blocks of the main chain, including those by the forger"
      }

let forgingHosts =
      S.Relation::{
      , name = "forging_hosts"
      , sql = ../../queries/cardano/forging_hosts.sql as Text
      , uses = [ "logs", blocks.name, "block" ]
      , columns = [ c.host, c.total, c.chained, c.filtered ]
      , key = [ "host" ]
      , doc = "Number of forged, chained and filtered blocks by host"
      }

let openings =
      S.Relation::{
      , name = "openings"
      , sql = ../../queries/cardano/openings.sql as Text
      , uses = [ "logs" ]
      , columns = [ c.host, c.slot ]
      , key = [ "host" ]
      , checks =
        [ S.Check::{
          , code = "nothing-recognised"
          , sql = ../../queries/cardano/checks/nothing_recognised.sql as Text
          , uses = [ "logs" ]
          , message = "the log of {host} has no known event: {lines} lines, {objects} of them log objects"
          , hint = "check that it is the log of a node; `assay list events` prints the known names"
          }
        ]
        # slotChecks
      , doc = "The first slot of the timeline of each host"
      }

let slotMarks =
      S.Relation::{
      , name = "slot_marks"
      , sql = ../../queries/cardano/slot_marks.sql as Text
      , uses = [ openings.name, events.leadershipCheckStarted.name, events.resources.name ]
      , columns = [ c.host, c.seq, c.at, c.mark, c.opening, c.slot, c.latest, c.before ]
      , key = [ "host", "seq" ]
      , checks =
        [ S.Check::{
          , code = "silence"
          , sql = ../../queries/cardano/checks/silence.sql as Text
          , uses = [ "slot_marks" ]
          , message = "{host} has no events for {silence} slots, from slot {before} to slot {slot} (at {instant})"
          , hint = "a gap of 1000 slots or more cannot be analysed: remove the host from the run, or truncate its log before the gap"
          }
        ]
      , doc = "The events that extend the slot timeline of a host, or precede it"
      }

let timeline =
      S.Relation::{
      , name = "timeline"
      , sql = ../../queries/cardano/timeline.sql as Text
      , uses = [ openings.name, slotMarks.name ]
      , columns = [ c.host, c.slot, c.kind, c.reachedSeq, c.before ]
      , key = [ "host", "slot" ]
      , checks =
        [ S.Check::{
          , code = "slot-outside"
          , sql = ../../queries/cardano/checks/slot_outside.sql as Text
          , uses =
            [ "timeline"
            , slotMarks.name
            , events.blockContext.name
            , events.ledgerState.name
            , events.ledgerView.name
            , events.leadershipDecided.name
            , events.ledgerTicked.name
            , events.mempoolSnapshot.name
            , events.blockForged.name
            ]
          , message = "{host} has an event `{event}` for slot {slot} at {instant}, outside its timeline at that time"
          , hint = "check that the log files of the host are complete and of one run, and that the genesis (systemStart, slotLength) is that of the run"
          }
        ]
      , doc = "The slots of each host: opening, reached or skipped (gap)"
      }

let blockGaps =
      S.Relation::{
      , name = "block_gaps"
      , sql = ../../queries/cardano/block_gaps.sql as Text
      , uses = [ timeline.name, events.blockContext.name ]
      , columns = [ c.host, c.slot, c.blockGap ]
      , key = [ "host", "slot" ]
      , doc = "Slots since the tip of the host's chain changed"
      }

let resourceUsage =
      S.Relation::{
      , name = "resource_usage"
      , sql = ../../queries/cardano/resource_usage.sql as Text
      , uses = [ events.resources.name ]
      , columns =
        [ c.host
        , c.seq
        , c.slot
        , c.cpu
        , c.gc
        , c.mut
        , c.blkIo
        , c.gcsMajor
        , c.gcsMinor
        , c.alloc
        , c.netRd
        , c.netWr
        , c.fsRd
        , c.fsWr
        , c.rss
        , c.heap
        , c.live
        , c.threads
        , c.fell
        ]
      , key = [ "host", "seq" ]
      , checks =
        [ S.Check::{
          , code = "counters-fall"
          , sql = ../../queries/cardano/checks/counters_fall.sql as Text
          , uses = [ events.resources.name ]
          , message =
              "resource counters decrease in {events} of {hosts}, first on {host} at {instant} ({counters}). Increases are computed modulo 2^64, so they are huge there, and so are averages over them"
          , hint = "check whether a node was restarted, or the folder has logs of several runs"
          , severity = "warning"
          }
        ]
      , doc = "Resource usage of a host between consecutive resources events"
      }

let slots =
      S.Relation::{
      , name = "slots"
      , sql = ../../queries/cardano/slots.sql as Text
      , uses =
        [ timeline.name
        , blockGaps.name
        , resourceUsage.name
        , events.leadershipCheckStarted.name
        , events.ledgerMetrics.name
        ]
      , columns =
        [ c.host
        , c.slot
        , c.epoch
        , c.epochSlot
        , c.trueEpochSlot
        , c.safeInterval
        , c.density
        , c.utxo
        , c.blockGap
        , c.cpu
        , c.gc
        , c.mut
        , c.blkIo
        , c.rss
        , c.heap
        , c.live
        , c.threads
        , c.gcsMajor
        , c.gcsMinor
        , c.alloc
        , c.netRd
        , c.netWr
        , c.fsRd
        , c.fsWr
        ]
      , key = [ "host", "slot" ]
      , doc = "The slots of each host with their values at the end of the slot"
      }

let figures =
      { machines = column "integer" "machines" U.none "Hosts"
      , objectsPerHost = column "real" "objects_per_host" U.none "Log objects, mean over hosts"
      , recognisedPerHost = column "real" "recognised_per_host" U.none "Recognised log objects, mean over hosts"
      , hostRunTime = column "real" "host_run_time" U.second "Time from the first to the last log object, mean over hosts"
      , lineRate = column "real" "line_rate" U.hertz "Lines per second of run time (in whole seconds), mean over hosts"
      , recognisedTotal = column "huge" "recognised_total" U.none "Recognised log objects, all hosts"
      , runTime = column "integer" "run_time" U.second "Time from the first to the last log object of all hosts, rounded"
      , analysedTime = column "integer" "analysed_time" U.second "Duration of the analysed slots, rounded"
      , efficiency = column "real" "efficiency" U.none "Duration of the analysed slots / run time, both rounded"
      , startSpread = column "integer" "start_spread" U.nanosecond "Time between the earliest and the latest first log object of the hosts"
      , stopSpread = column "integer" "stop_spread" U.nanosecond "Time between the earliest and the latest last log object of the hosts"
      , slotsAnalysed = column "huge" "slots_analysed" D.slot "Last minus first analysed slot, mean over hosts, truncated"
      , blocksAnalysed = column "integer" "blocks_analysed" D.block "Blocks of the main chain that the filters accept"
      , blocksRejected = column "integer" "blocks_rejected" D.block "Blocks of the main chain that the filters reject"
      , plutusScript = column "text" "plutus_script" U.none "Plutus script of the workload, if any"
      }

let ofLogs =
      [ figures.machines
      , figures.objectsPerHost
      , figures.recognisedPerHost
      , figures.hostRunTime
      , figures.lineRate
      , figures.recognisedTotal
      , figures.runTime
      , figures.analysedTime
      , figures.efficiency
      , figures.startSpread
      , figures.stopSpread
      , figures.slotsAnalysed
      ]

let logSummary =
      S.Relation::{
      , name = "log_summary"
      , sql = ../../queries/cardano/log_summary.sql as Text
      , uses = [ "logs", "slot_extents", events.forkSwitched.name, events.recordsLimited.name ]
      , columns = ofLogs # [ figures.plutusScript ]
      , key = [ "machines" ]
      , doc = "Values of the manifest about the logs of a run and the slots of its hosts"
      }

let runSummary =
      S.Relation::{
      , name = "run_summary"
      , sql = ../../queries/cardano/run_summary.sql as Text
      , uses = [ logSummary.name, "block" ]
      , columns = ofLogs # [ figures.blocksAnalysed, figures.blocksRejected, figures.plutusScript ]
      , key = [ "machines" ]
      , doc = "Values of the manifest of a run that are not constants"
      }

in  { column = c
    , figures
    , logSummary
    , runSummary
    , clocks
    , slotChecks
    , roles
    , blocks
    , chain
    , observations
    , adoptions
    , forgingHosts
    , openings
    , slotMarks
    , timeline
    , blockGaps
    , resourceUsage
    , slots
    }
