-- Examples: samples of a Prometheus server, and the expected values of the endurance and upgrade metrics.
let S = ../schema/package.dhall

let Q = S.example

let endurance = (./endurance.dhall).metric

let upgrade = (./upgrade.dhall).metric

let of = Q.samples

-- The response of a Prometheus server with some series.
let response =
      \(series : Text) ->
        Q.file "prom/raw.json" "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[${series}]}}\n"

-- A sample; `second` counts from midnight.
let at = \(second : Text) -> \(value : Text) -> ''
  [17672256${second},"${value}"]''

let series =
      \(name : Text) -> \(more : Text) -> \(samples : Text) ->
        ''
        {"metric":{"__name__":"${name}","instance":"host:9100","job":"node"${more}},"values":[${samples}]}''

-- Samples in steps of 5 s.
let three = \(a : Text) -> \(b : Text) -> \(c : Text) -> "${at "00" a},${at "05" b},${at "10" c}"

let six =
      \(a : Text) -> \(b : Text) -> \(c : Text) -> \(d : Text) -> \(e : Text) -> \(f : Text) ->
        "${three a b c},${at "15" d},${at "20" e},${at "25" f}"

let ofDrive = \(drive : Text) -> series "node_disk_written_bytes_total" ",\"device\":\"${drive}\""

let drives =
      S.Example::{
      , name = "25 seconds of two drives; the counter of one is reset"
      , files =
        [ response
            ''
            ${ofDrive "vda" (six "1000000000" "1060000000" "1070000000" "1150000000" "1180000000" "1320000000")},
            ${ofDrive "vdb" (six "890000000" "930000000" "960000000" "15000000" "30000000" "150000000")}
            ''
        ]
      , expect = [ of endurance.diskWriteRate [ "5", "9" ] ]
      , doc =
          "Steps are the seconds 20 to 25. The window of 20 s has the samples from 0 to 20 s at 20 s, from 5 to 20 s up to 24 s, and from 5 to 25 s at 25 s. vda: 180 MB in 20 s, 120 in 15 s, 260 in 20 s: 9, four times 8, and 13 MB/s. vdb, with 960 MB added at the counter reset: 100 MB in 20 s, 60 in 15 s, 180 in 20 s: 5, four times 4, and 9 MB/s."
      }

let ofCpu = \(cpu : Text) -> \(mode : Text) -> series "node_cpu_seconds_total" ",\"cpu\":\"${cpu}\",\"mode\":\"${mode}\""

let memory = \(name : Text) -> series "node_memory_${name}_bytes" ""

let host =
      S.Example::{
      , name = "15 seconds of a host whose exporter is down at the end"
      , files =
        [ Q.file "meta.json" "{\"state\": {\"device\": \"vda\"}, \"rate_window_seconds\": 10, \"step_seconds\": 5}"
        , response
            ''
            ${series "up" "" "${three "1" "1" "1"},${at "15" "0"}"},
            ${ofCpu "0" "idle" (three "100" "104" "106.5")},
            ${ofCpu "1" "idle" (three "200" "202" "206.5")},
            ${ofCpu "1" "user" (three "50" "51" "51.5")},
            ${memory "MemTotal" (three "1073741824" "1073741824" "1073741824")},
            ${memory "MemAvailable" (three "805306368" "671088640" "536870912")},
            ${memory "SwapTotal" (three "536870912" "536870912" "536870912")},
            ${memory "SwapFree" (three "524288000" "520093696" "503316480")},
            ${ofDrive "vda" (three "10000000" "10040000" "10100000")},
            ${ofDrive "vdb" (three "10000000" "17000000" "17500000")},
            {"metric":{"__name__":"nodeos_head_block_num","instance":"host:9101","job":"nodeos"},"values":[${at "15" "7"}]}
            ''
        ]
      , expect =
        [ of upgrade.cpuUsage [ "30", "35", "40" ]
        , of upgrade.memoryUsed [ "256", "384", "512" ]
        , of upgrade.swapUsed [ "12", "16", "32" ]
        , of upgrade.diskWriteRate [ "8", "10", "12" ]
        ]
      , doc =
          "Gauges have values at 0, 5 and 10 s: at 15 s only the node responds. Rates have a window of 10 s and need two samples: the first two at 5 s, all at 10 s, the last two at 15 s. The idle shares are 0.8, 0.65 and 0.5 for one CPU, 0.4, 0.65 and 0.9 for the other."
      }

let node =
      S.Example::{
      , name = "10 seconds of a node"
      , files =
        [ Q.file "meta.json" "{\"rate_window_seconds\": 10, \"step_seconds\": 5}"
        , response
            ''
            ${series "nodeos_head_block_num" "" (three "7" "17" "27")},
            ${series "nodeos_p2p_clients" "" (three "3" "4" "5")},
            ${series "nodeos_p2p_peers" "" (three "2" "2" "1")},
            ${series "nodeos_trxs_incoming_total" "" (three "100" "150" "240")},
            ${series "nodeos_trxs_produced_total" "" (three "7" "7" "12")}
            ''
        ]
      , expect =
        [ of upgrade.clients [ "3", "4", "5" ]
        , of upgrade.peers [ "1", "2", "2" ]
        , of upgrade.incoming [ "10", "14" ]
        , of upgrade.produced [ "0", "0.5" ]
        ]
      , doc = "A rate covers the first two samples at 5 s, and all three at 10 s"
      }

in  [ drives, host, node ]
