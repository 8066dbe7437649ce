-- Activity of hosts (transactions, mempool, logs): a report of metrics, and one of timelines.
let S = ../schema/package.dhall

let R = S.report

let B = S.block

let constant = (./source.dhall).constant

let summaries = ./summaries.dhall

let hostSlot = ./grains/host_slot.dhall

let m = ./metrics/activity.dhall

let series = ./series.dhall

let slots =
      B.withFiles
        ( B.most
            m.mempoolTxs
            ( B.listing
                "Slots of hosts"
                hostSlot.grain
                [ hostSlot.host, hostSlot.slot, hostSlot.start ]
                [ m.objects, m.collected, m.accepted, m.rejected, m.refused, m.mempoolTxs, m.forged, m.snapshots ]
            )
        )

let report =
      S.Report::{
      , name = "host-activity"
      , title = "Transactions, mempool and logs of {others} against {base}"
      , intro =
          "Logged transactions, blocks and snapshots of hosts per slot. Values are means over hosts of their means over slots."
      , manifest = (./manifest.dhall).current
      , sections =
        [ R.section "Transactions" [ m.collected, m.accepted, m.rejected, m.acceptedShare, m.refused ]
        , R.section "Mempool" [ m.mempoolTxs ] // { columns = [ "median", "p95", "max" ] }
        , R.section "Blocks, snapshots and logs" [ m.forged, m.snapshots, m.objects ]
        ]
      , charts = [ R.cdf m.mempoolTxs, R.cdf m.accepted, R.cdf m.objects ]
      , parts =
        [ B.Part::{
          , title = "Over time"
          , blocks =
              B.runTimelines
                [ R.timeline "Accepted transactions" series.accepted
                , R.timelineOfMean "Mempool size" series.mempool
                , R.timeline "Headers" series.headers
                ]
          }
        , B.Part::{ title = "Slots of hosts", blocks = B.listings [ slots ] }
        ]
      , dictionary =
        [ R.group
            "Activity of hosts"
            [ m.collected
            , m.accepted
            , m.rejected
            , m.acceptedShare
            , m.refused
            , m.mempoolTxs
            , m.forged
            , m.snapshots
            , m.objects
            ]
        ]
      , style = "prefixed"
      , summary = summaries.meanOfHosts.name
      , label = constant.ident.name
      , doc = "Transactions, mempool, forging, snapshots and log objects by host and slot, for two or more runs"
      }

let byHost =
      \(title : Text) -> \(metric : S.Metric.Type) -> B.curveBy title hostSlot.grain metric hostSlot.host

let timelines =
      S.Report::{
      , name = "host-timelines"
      , title = "Hosts over time"
      , intro = "Logged values of each host per slot, over the time of the run. Each line is a host."
      , parts =
        [ B.Part::{
          , title = "Transactions"
          , blocks =
              B.curves
                [ byHost "Collected transactions" m.collected
                , byHost "Accepted transactions" m.accepted
                , byHost "Rejected transactions" m.rejected
                , byHost "Mempool rejections" m.refused
                ]
          }
        , B.Part::{ title = "Mempool", blocks = B.curves [ byHost "Mempool size" m.mempoolTxs ] }
        , B.Part::{
          , title = "Blocks, snapshots and logs"
          , blocks =
              B.curves
                [ byHost "Forged blocks" m.forged
                , byHost "Ledger snapshots" m.snapshots
                , byHost "Log objects" m.objects
                ]
          }
        ]
      , style = "prefixed"
      , label = constant.ident.name
      , doc = "Transactions, mempool, forging, snapshots and log objects of each host over time"
      }

in  { report, timelines }
