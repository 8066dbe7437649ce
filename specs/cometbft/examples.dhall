-- Examples: small runs with the expected values of metrics, from a load report, logs of nodes and published summaries.
let S = ../schema/package.dhall

let Q = S.example

let m = ./metrics.dhall

let p = ./published.dhall

let of = Q.samples

let meta = Q.file "meta.json" "{\"ident\": \"example\", \"experiment_seconds\": 30}"

-- A row of the load tool's report: times in ns since 1970-01-01.
let row =
      \(experiment : Text) -> \(time : Text) -> \(duration : Text) -> \(hash : Text) ->
        "${experiment},${time},${duration},${hash},1,200,1024"

let load =
      S.Example::{
      , name = "an experiment of three transactions, and one of a single transaction"
      , files =
        [ meta
        , Q.file
            "report/raw.csv"
            ( Q.lines
                [ "experiment_id,block_time,duration_ns,tx_hash,connections,rate,size"
                , row "e1" "1767225602000000000" "1000000000" "A1"
                , row "e1" "1767225604000000000" "2500000000" "A2"
                , row "e1" "1767225605000000000" "4000000001" "A3"
                , row "e2" "1767225700000000000" "-500000000" "B1"
                ]
            )
        ]
      , expect =
        [ of m.validTxs [ "1", "3" ]
        , of m.negative [ "0", "1" ]
        , of m.expected [ "5800", "5800" ]
        , of m.least [ "-0.5", "1" ]
        , of m.greatest [ "-0.5", "4.000000001" ]
        , of m.average [ "-0.5", "2.5" ]
        , of m.deviation [ "1.5" ]
        , of m.latency [ "-0.5", "1", "2.5", "4.000000001" ]
        , of m.sinceStart [ "-0.5", "1", "3", "4" ]
        , of m.runLatency [ "-0.5", "1", "2.5", "4.000000001" ]
        , of m.sinceBegin [ "1", "3", "4", "99" ]
        , of m.throughput [ "-2", "0.75" ]
        ]
      , doc = "Averages are truncated to whole nanoseconds, not rounded"
      }

let n = (./sampled.dhall).metric

-- A series of a Prometheus server: samples at seconds of 2026-01-01, the last three digits of their Unix times.
let sample = \(second : Text) -> \(value : Text) -> "[1767225${second},\"${value}\"]"

let series =
      \(name : Text) -> \(job : Text) -> \(samples : Text) ->
        ''
        {"metric":{"__name__":"${name}","instance":"host:1","job":"${job}"},"values":[${samples}]}''

let two =
      \(first : Text) -> \(second : Text) -> \(later : Text) -> "${sample "600" first},${sample second later}"

let sampled =
      S.Example::{
      , name = "samples of a node and its machine over four seconds"
      , files =
        [ meta
        , Q.file
            "report/raw.csv"
            ( Q.lines
                [ "experiment_id,block_time,duration_ns,tx_hash,connections,rate,size"
                , row "e1" "1767225602000000000" "1000000000" "A1"
                , row "e1" "1767225605000000000" "1000000000" "A2"
                ]
            )
        , Q.file
            "prom/raw.json"
            ''
            {"status":"success","data":{"resultType":"matrix","result":[
            ${series "up" "node" (two "1" "605" "1")},
            ${series "cometbft_p2p_peers" "node" (two "3" "603" "5")},
            ${series "cometbft_consensus_rounds" "node" (two "0" "604" "2")},
            ${series "cometbft_mempool_size" "node" (two "10" "603" "20")},
            ${series "process_resident_memory_bytes" "node" (two "104857600" "605" "52428800")},
            ${series
                "cometbft_consensus_height"
                "node"
                "${sample "585" "7"},${sample "590" "8"},${sample "595" "9"},${two "10" "605" "11"}"},
            ${series "node_load1" "machine-exporter" (two "1.5" "604" "4")}
            ]}}
            ''
        ]
      , expect =
        [ of n.leastPeers [ "3" ]
        , of n.mostPeers [ "5" ]
        , of n.highestRound [ "2" ]
        , of n.mempoolSize [ "16" ]
        , of n.mostMemory [ "100" ]
        , of n.blockRate [ "12" ]
        , of n.averageLoad [ "2.5" ]
        , of n.highestLoad [ "4" ]
        ]
      , doc =
          "Steps are the five seconds from 601 to 605. The mempool has twice 10 and three times 20 transactions, the load is three times 1.5 and twice 4. A block every 5 s is 12 a minute."
      }

let line =
      \(second : Text) -> \(level : Text) -> \(message : Text) -> \(more : Text) ->
        ''
        {"_msg":"${message}","level":"${level}"${more},"ts":"2026-01-01T00:00:${second}Z"}''

let info = \(second : Text) -> line second "info"

let started = \(second : Text) -> info second "Started node" ""

let ofHeight = \(height : Text) -> ",\"height\":${height}"

let joins = \(second : Text) -> \(height : Text) -> info second "Time to switch to consensus reactor!" (ofHeight height)

let proposal = \(second : Text) -> info second "received proposal" ""

let finalized =
      \(second : Text) -> \(height : Text) -> \(transactions : Text) ->
        info second "finalized block" "${ofHeight height},\"num_txs_res\":${transactions}"

let committed = \(second : Text) -> \(height : Text) -> info second "committed state" (ofHeight height)

-- The validator commits 1 to 3, restarts, repeats 3, catches up with 4 and joins consensus for 5 and 6. The log of the
-- other node begins later.
let nodes =
      S.Example::{
      , name = "a validator that starts twice, and the end of another log"
      , files =
        [ meta
        , Q.file
            "logs/validator0.log"
            ( Q.lines
                [ started "00.000"
                , joins "01.500" "1"
                , proposal "02.000"
                , finalized "02.500" "1" "3"
                , committed "02.600" "1"
                , proposal "03.500"
                , finalized "04.000" "2" "10"
                , committed "04.100" "2"
                , line "05.000" "error" "Error dialing peer" ""
                , proposal "06.000"
                , finalized "07.000" "3" "20"
                , committed "07.100" "3"
                , started "08.000"
                , finalized "08.200" "3" "20"
                , committed "08.300" "3"
                , finalized "10.000" "4" "7"
                , committed "10.100" "4"
                , joins "12.000" "5"
                , line "13.000" "warn" "Slow peer" ""
                , line "13.500" "error" "Error dialing peer" ""
                , proposal "14.000"
                , finalized "15.000" "5" "2"
                , committed "15.100" "5"
                , proposal "16.000"
                , finalized "17.000" "6" "1"
                , committed "17.100" "6"
                ]
            )
        , Q.file "logs/validator1.log" (Q.lines [ committed "15.200" "5", committed "17.300" "6" ])
        ]
      , expect =
        [ of m.blocks [ "2", "6" ]
        , of m.blocksCaughtUp [ "0", "1" ]
        , of m.nodeTransactions [ "43" ]
        , of m.proposals [ "0", "5" ]
        , of m.complaints [ "0", "3" ]
        , of m.starts [ "0", "2" ]
        , of m.catchingUp [ "4" ]
        , of m.intervalAverage [ "2.1", "2.166666666" ]
        , of m.intervalGreatest [ "2.1", "3" ]
        , of m.height [ "2", "3", "6", "6" ]
        , of m.interval [ "1.5", "2", "2.1", "3" ]
        ]
      , doc = "The intervals of the validator are 1.5, 3 and 2 s: it committed block 4 while catching up. A log that begins later counts as in consensus."
      }

-- A validator of version 0.40: the message about joining consensus is that of 1.0, the others are those of 0.38.
let joinsSince039 =
      S.Example::{
      , name = "a validator of version 0.40"
      , files =
        [ meta
        , Q.file
            "logs/validator0.log"
            ( Q.lines
                [ started "00.000"
                , info "01.500" "Time to switch to consensus mode!" (ofHeight "1")
                , info "02.000" "received proposal" ",\"proposal\":{},\"proposer\":\"A1\""
                , info "02.500" "finalized block" "${ofHeight "1"},\"num_txs_res\":3,\"num_val_updates\":0,\"block_app_hash\":\"\""
                , info "02.600" "committed state" "${ofHeight "1"},\"block_app_hash\":\"\""
                , info "04.000" "finalized block" "${ofHeight "2"},\"num_txs_res\":10"
                , info "04.200" "committed state" (ofHeight "2")
                ]
            )
        ]
      , expect =
        [ of m.blocks [ "2" ]
        , of m.blocksCaughtUp [ "0" ]
        , of m.nodeTransactions [ "13" ]
        , of m.proposals [ "1" ]
        , of m.catchingUp [ "1.5" ]
        , of m.interval [ "1.6" ]
        ]
      }

-- A validator of a release candidate of 2.0, whose logger has other keys, and levels in capital letters.
let candidate =
      let line =
            \(second : Text) -> \(level : Text) -> \(message : Text) -> \(more : Text) ->
              ''
              {"time":"2026-01-01T01:00:${second}+01:00","level":"${level}","msg":"${message}","module":"state"${more}}''

      let info = \(second : Text) -> line second "INFO"

      in  S.Example::{
          , name = "a validator of a release candidate of 2.0"
          , files =
            [ meta
            , Q.file
                "logs/validator0.log"
                ( Q.lines
                    [ info "00.000" "Started node" ""
                    , info "01.500" "Time to switch to consensus mode!" (ofHeight "1")
                    , info "02.000" "Received proposal" ",\"proposal\":{},\"proposer\":\"A1\""
                    , info "02.500" "Finalized block" "${ofHeight "1"},\"num_txs_res\":3"
                    , info "02.600" "Committed state" (ofHeight "1")
                    , line "03.000" "ERROR" "Failed to prevote" ""
                    , line "03.100" "WARN" "A peer is slow" ""
                    , info "04.000" "Finalized block" "${ofHeight "2"},\"num_txs_res\":10"
                    , info "04.100" "Committed state" (ofHeight "2")
                    ]
                )
            ]
          , expect =
            [ of m.blocks [ "2" ]
            , of m.nodeTransactions [ "13" ]
            , of m.proposals [ "1" ]
            , of m.complaints [ "2" ]
            , of m.starts [ "1" ]
            , of m.catchingUp [ "1.5" ]
            , of m.interval [ "1.5" ]
            ]
          }

-- A validator of version 1.0, whose messages begin with a capital.
let renamed =
      S.Example::{
      , name = "a validator of version 1.0"
      , files =
        [ meta
        , Q.file
            "logs/validator0.log"
            ( Q.lines
                [ started "00.000"
                , info "01.500" "Time to switch to consensus mode!" (ofHeight "1")
                , info "02.000" "Received proposal" ",\"proposal\":{},\"proposer\":\"A1\""
                , info "02.500" "Finalized block" "${ofHeight "1"},\"num_txs_res\":3,\"num_val_updates\":0,\"block_app_hash\":\"\",\"syncing_to_height\":1"
                , info "02.600" "Committed state" "${ofHeight "1"},\"block_app_hash\":\"\""
                , info "03.500" "Received proposal" ",\"proposal\":{},\"proposer\":\"A2\""
                , info "04.000" "Finalized block" "${ofHeight "2"},\"num_txs_res\":10"
                , info "04.100" "Committed state" (ofHeight "2")
                ]
            )
        ]
      , expect =
        [ of m.blocks [ "2" ]
        , of m.blocksCaughtUp [ "0" ]
        , of m.nodeTransactions [ "13" ]
        , of m.proposals [ "2" ]
        , of m.catchingUp [ "1.5" ]
        , of m.interval [ "1.5" ]
        ]
      }

let published =
      S.Example::{
      , name = "summaries side by side, and one alone"
      , files =
        [ meta
        , Q.file
            "v1_report_tabbed.txt"
            ''
            Experiment ID: a                  │Experiment ID: b
                                              │
                Connections: 1                │    Connections: 2
                Rate: 200                     │    Rate: 200
                Size: 1024                    │    Size: 1024
                                              │
                Total Valid Tx: 5700          │    Total Valid Tx: 11000
                Total Negative Latencies: 2   │    Total Negative Latencies: 0
                Minimum Latency: -12.5ms      │    Minimum Latency: 250ms
                Maximum Latency: 3.25s        │    Maximum Latency: 1m5.5s
                Average Latency: 1.5s         │    Average Latency: 2.000000001s
                Standard Deviation: 500ms     │    Standard Deviation: 1.25s
            ''
        , Q.file
            "report/report_node0.txt"
            ''
            Experiment ID: c

                Connections: 4
                Rate: 400
                Size: 1024

                Total Valid Tx: 31000
                Total Negative Latencies: 1
                Minimum Latency: 100µs
                Maximum Latency: 20s
                Average Latency: 4.75s
                Standard Deviation: 3s
            ''
        ]
      , expect =
        [ of p.txs [ "5700", "11000", "31000" ]
        , of p.expected [ "5800", "11600", "46400" ]
        , of p.negative [ "0", "1", "2" ]
        , of p.least [ "-0.0125", "0.0001", "0.25" ]
        , of p.greatest [ "3.25", "20", "65.5" ]
        , of p.average [ "1.5", "2.000000001", "4.75" ]
        , of p.deviation [ "0.5", "1.25", "3" ]
        ]
      , doc = "Expected transactions: rate × connections × 29 of 30 seconds"
      }

in  [ load, sampled, nodes, joinsSince039, renamed, candidate, published ]
