-- Relations: what no declaration can express, as SQL over events, other relations and grains.
let S = ../schema/package.dhall

let G = S.grain

let U = S.unit

let D = ./units.dhall

let events = ./events.dhall

let column = G.column

let c =
      { host = column "text" "host" U.none "Host"
      , seq = column "integer" "seq" U.none "Place in the host's log"
      , at = column "instant" "t_ns" U.nanosecond "When"
      , block = column "text" "block" U.none "Hash of the block"
      , blockNo = column "integer" "block_no" D.block "Number of the block"
      , slot = column "integer" "slot" D.slot "Slot"
      , role = column "text" "role" U.none "forger, observer or error"
      , blockPrev = column "text" "block_prev" U.none "Hash of the block before"
      , forger = column "text" "forger" U.none "Host that made the block"
      , battles = column "unsigned" "battles" D.block "Other hashes with the block's number"
      , slotStart = column "instant" "slot_start" U.nanosecond "Start of the block's slot"
      , adopted = column "instant" "adopted" U.nanosecond "When the host adopted the block"
      , total = column "integer" "total" D.block "Blocks made by the host"
      , chained = column "integer" "chained" D.block "Of these, on the main chain"
      , filtered = column "integer" "filtered" D.block "Of these, accepted by the filters"
      , mark = column "text" "mark" U.none "started or resources"
      , opening = column "integer" "opening" D.slot "First slot of the host's timeline"
      , latest = column "integer" "latest" D.slot "Latest slot of the timeline once the event has come"
      , kind = column "text" "kind" U.none "opening, reached or gap"
      , reachedSeq = column "integer" "reached_seq" U.none "Place in the log of the event that reached the slot"
      , before = column "integer" "before" D.slot "Latest slot before that event"
      , blockGap = column "unsigned" "block_gap" D.slot "Slots since the tip of the chain changed"
      , epoch = column "integer" "epoch" D.epoch "Epoch of the slot; 0 for an opening slot"
      , epochSlot = column "integer" "epoch_slot" D.slot "Slot within its epoch; 0 for an opening slot"
      , trueEpochSlot = column "integer" "true_epoch_slot" D.slot "Slot within its epoch"
      , safeInterval = column "integer" "safe_interval" U.none "Safe interval of the slot; 0 for an opening slot"
      , density = column "real" "density" U.none "Blocks a slot, as last told in the slot"
      , utxo = column "integer" "utxo" U.none "Entries of the UTxO set, as last told in the slot"
      , cpu = column "unsigned" "cpu" U.percent "Share of a core used by the process, rounded up"
      , gc = column "unsigned" "gc" U.percent "Share of a core used by garbage collection, rounded up"
      , mut = column "unsigned" "mut" U.percent "Share of a core used by the program proper, rounded up"
      , blkIo = column "unsigned" "blk_io" U.percent "Share of the time spent waiting for storage, rounded up"
      , gcsMajor = column "unsigned" "gcs_major" U.event "Major collections"
      , gcsMinor = column "unsigned" "gcs_minor" U.event "Minor collections"
      , alloc = column "unsigned" "alloc" U.byte "Bytes allocated"
      , netRd = column "unsigned" "net_rd" U.byte "Bytes read from the network"
      , netWr = column "unsigned" "net_wr" U.byte "Bytes written to the network"
      , fsRd = column "unsigned" "fs_rd" U.byte "Bytes fetched from storage"
      , fsWr = column "unsigned" "fs_wr" U.byte "Bytes sent to storage"
      , rss = column "unsigned" "rss" U.byte "Resident set"
      , heap = column "unsigned" "heap" U.byte "Heap of the runtime"
      , live = column "unsigned" "live" U.byte "Live data after the last collection"
      , threads = column "unsigned" "threads" U.none "Threads"
      , fell = column "boolean" "fell" U.none "Whether a counter tells less than the event before it does"
      }

let clocks =
      S.Relation::{
      , name = "clocks"
      , sql = ../../queries/cardano/clocks.sql as Text
      , uses = [ events.leadershipCheckStarted.name ]
      , columns =
        [ c.host
        , column "integer" "late" U.nanosecond "Median over the leadership checks of instant - start of the slot"
        , column "integer" "apart" U.nanosecond "The same, minus that of the median host"
        ]
      , key = [ "host" ]
      , doc = "How far the instants of each host lie from the slots, and from the other hosts' instants"
      }

-- Whether the slots of the genesis are those of the logs, and the hosts' clocks agree: of whatever tells slots by the
-- instants of events. These come before other checks, which would blame missing logs.
let slotChecks =
      let clock =
            { uses = [ clocks.name ]
            , message = "{host}'s instants lie {distance} the other hosts'; is its clock right?"
            , hint = "synchronise the clocks of the hosts; or is the log of {host} of another run?"
            }

      let slot =
            { uses = [ clocks.name, events.leadershipCheckStarted.name ]
            , message =
                "{outside} of {checks} leadership checks lie in another slot than the one that they name, the first of {host} for slot {slot} at {instant}: {implied} by systemStart and slotLength; the instants of {host} lie {distance} where the genesis puts its slots"
            , hint =
                "is the genesis the one that the run was started with? Slots of several lengths (mainnet had slots of 20 s before Shelley) are not supported"
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
          , message = "{host}'s first records about blocks lie {distance} the other hosts' in the median of {blocks} blocks; is its clock right?"
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
          , message = "no host forged block {block} (number {block_no}, slot {slot}), which {hosts} saw first at {instant}"
          , hint = "is the log of a host missing, or cut off at its beginning?"
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
          , message = "no block is forged or adopted on {hosts}, though leadership is checked there"
          , hint = "is the node cut off from the others, or are its events of other names? `assay list events` prints those that are known"
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
      , doc = "What the forger and the observers of a block say of it"
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
              "block {block} (number {block_no}) is needed for the main chain, but no host counts as its forger; seen by {hosts}"
          , hint = "a host that forged it twice, or also fetched it, does not count as its forger"
          }
        , S.Check::{
          , code = "no-chain"
          , sql = ../../queries/cardano/checks/no_chain.sql as Text
          , uses = [ "chain", blocks.name ]
          , message = "there is no chain to analyse: {known} blocks are known, and the highest is left out"
          , hint = "was the run stopped before its second block?"
          }
        ]
      , doc = "The main chain, from the block below the highest one back to block 0"
      }

let observations =
      S.Relation::{
      , name = "observations"
      , sql = ../../queries/cardano/observations.sql as Text
      , uses = [ chain.name, roles.name ]
      , columns = [ c.block, c.blockNo, c.host ]
      , key = [ "block", "host" ]
      , doc = "The blocks of the main chain, each with every host that observed it"
      }

let adoptions =
      S.Relation::{
      , name = "adoptions"
      , sql = ../../queries/cardano/adoptions.sql as Text
      , uses = [ "block", "observation" ]
      , columns = [ c.block, c.host, c.slotStart, c.adopted ]
      , key = [ "block", "host" ]
      , doc = "Every adoption of a block of the main chain, the forger's included"
      }

let forgingHosts =
      S.Relation::{
      , name = "forging_hosts"
      , sql = ../../queries/cardano/forging_hosts.sql as Text
      , uses = [ "logs", blocks.name, "block" ]
      , columns = [ c.host, c.total, c.chained, c.filtered ]
      , key = [ "host" ]
      , doc = "What became of the blocks that each host made"
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
          , message = "the log of {host} holds no event that is known: {lines} lines, {objects} of them log objects"
          , hint = "is it the log of a node? `assay list events` tells the names that are known"
          }
        ]
        # slotChecks
      , doc = "The slot with which the timeline of each host opens"
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
          , message = "{host} is silent for {silence} slots, from slot {before} to slot {slot} (at {instant})"
          , hint = "a silence of 1000 slots or more cannot be analysed: leave the host out, or cut the run before it"
          }
        ]
      , doc = "The events that extend the slot timeline of a host, or come before it"
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
          , hint = "are the host's log files of one run, and complete? is it the run of this genesis (systemStart, slotLength)?"
          }
        ]
      , doc = "The slots of each host: opening, reached, or jumped over"
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
              "counters of resources fall in {events} of {hosts}, first of {host} at {instant} ({counters}); as increases are taken modulo 2^64, theirs are huge there, and so are averages over them"
          , hint = "was a node started again, or are logs of several runs in the folder?"
          , severity = "warning"
          }
        ]
      , doc = "What a host used between one resources event and the one before"
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
      , doc = "The slots of each host with what each held at its end"
      }

let figures =
      { machines = column "integer" "machines" U.none "Hosts"
      , objectsPerHost = column "real" "objects_per_host" U.none "Mean over hosts of log objects"
      , recognisedPerHost = column "real" "recognised_per_host" U.none "Mean over hosts of recognised log objects"
      , hostRunTime = column "real" "host_run_time" U.second "Mean over hosts of last - first log object"
      , lineRate = column "real" "line_rate" U.hertz "Mean over hosts of lines / whole seconds of run time"
      , recognisedTotal = column "huge" "recognised_total" U.none "Recognised log objects of all hosts"
      , runTime = column "integer" "run_time" U.second "Latest last - earliest first log object, rounded"
      , analysedTime = column "integer" "analysed_time" U.second "Duration of the analysed slots, rounded"
      , efficiency = column "real" "efficiency" U.none "Analysed duration / run time, as rounded"
      , startSpread = column "integer" "start_spread" U.nanosecond "Latest - earliest first log object of a host"
      , stopSpread = column "integer" "stop_spread" U.nanosecond "Latest - earliest last log object of a host"
      , slotsAnalysed = column "huge" "slots_analysed" D.slot "Mean over hosts of last - first analysed slot, cut"
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
      , doc = "What manifests print of the logs of a run and of the slots of its hosts"
      }

let runSummary =
      S.Relation::{
      , name = "run_summary"
      , sql = ../../queries/cardano/run_summary.sql as Text
      , uses = [ logSummary.name, "block" ]
      , columns = ofLogs # [ figures.blocksAnalysed, figures.blocksRejected, figures.plutusScript ]
      , key = [ "machines" ]
      , doc = "What the manifest of a run prints beside its constants"
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
