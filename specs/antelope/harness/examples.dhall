-- Examples: small runs of the harness, and the expected value of each metric. Averages and deviations are whole
-- numbers, and all counts of a run differ.
let S = ../../schema/package.dhall

let Q = S.example

let m = ./metrics.dhall

let of = Q.samples

let Four = { min : S.Metric.Type, max : S.Metric.Type, avg : S.Metric.Type, sigma : S.Metric.Type }

let figures =
      \(four : Four) -> \(min : Text) -> \(max : Text) -> \(avg : Text) -> \(sigma : Text) ->
        [ of four.min [ min ], of four.max [ max ], of four.avg [ avg ], of four.sigma [ sigma ] ]

let none = \(four : Four) -> [ Q.none four.min, Q.none four.max, Q.none four.avg, Q.none four.sigma ]

let line =
      \(second : Text) -> \(message : Text) ->
        "info  2026-01-01T00:00:${second} nodeos    producer_plugin.cpp:461       on_incoming_block    ] ${message}"

-- A log line of a block; `usage` has the fields that only newer versions log.
let block =
      \(origin : Text) ->
      \(second : Text) ->
      \(number : Text) ->
      \(producer : Text) ->
      \(transactions : Text) ->
      \(usage : Text) ->
        line
          second
          "${origin} block 620af4ee1adc2bab... #${number} @ 2026-01-01T00:00:${second} signed by ${producer} [trxs: ${transactions}, lib: 100, conf: 0${usage}]"

let received = block "Received"

let produced = block "Produced"

let usage =
      \(net : Text) -> \(cpu : Text) -> \(elapsed : Text) -> \(time : Text) -> \(latency : Text) ->
        ", net: ${net}, cpu: ${cpu}, elapsed: ${elapsed}, time: ${time}, latency: ${latency} ms"

let empty =
      \(second : Text) -> \(number : Text) -> \(producer : Text) ->
        received second number producer "0" (usage "0" "0" "0" "1000" "3")

let dropped = \(second : Text) -> \(number : Text) -> line second "dropped incoming block #${number} id: 620af4ee1adc2bab"

let forked =
      \(second : Text) -> \(from : Text) -> \(to : Text) ->
        line second "switching forks from 620af4ee1adc2bab (block number ${from}) to 3876cda17d2a4f14 (block number ${to})"

-- In this order: 1 block before the test, 3 leading empty, 1 dropped, 6 analysed, 1 dropped, 4 trailing empty, 5 after
-- it.
let phases =
      S.Example::{
      , name = "a test with all phases"
      , files =
        [ Q.file
            "run.json"
            ''
            {"testRunCompleted": true, "targetTPS": 100, "expectedTxns": 120,
             "testStartBlockNum": 102, "testEndBlockNum": 116, "configAddlDropCnt": 1}
            ''
        , Q.file
            "node_01/stderr.txt"
            ( Q.lines
                [ received "00.500" "101" "a" "9" (usage "360" "40" "45" "2000" "8")
                , empty "01.000" "102" "a"
                , empty "01.500" "103" "a"
                , empty "02.000" "104" "a"
                , received "02.500" "105" "b" "7" (usage "280" "30" "40" "3000" "11")
                , received "03.000" "106" "b" "20" (usage "300" "50" "50" "11000" "4")
                , received "03.510" "107" "b" "50" (usage "1600" "130" "140" "16000" "7")
                , received "04.000" "108" "b" "0" (usage "0" "10" "10" "4000" "-5")
                , received "04.507" "109" "b" "30" (usage "1000" "80" "130" "14000" "5")
                , received "05.000" "110" "c" "10" (usage "100" "70" "70" "13000" "2")
                , received "05.500" "111" "c" "0" (usage "0" "20" "20" "8000" "-1")
                , received "06.000" "112" "c" "3" (usage "120" "15" "25" "2500" "12")
                , empty "06.500" "113" "d"
                , empty "07.000" "114" "d"
                , empty "07.500" "115" "d"
                , empty "08.000" "116" "d"
                , received "08.500" "117" "d" "8" (usage "320" "35" "30" "2000" "6")
                , empty "09.000" "118" "d"
                , empty "09.500" "119" "d"
                , empty "10.000" "120" "d"
                , empty "10.500" "121" "d"
                ]
            )
        , Q.file
            "node_00/stderr.txt"
            ( Q.lines
                [ received "00.500" "101" "a" "9" (usage "360" "40" "45" "2000" "8")
                , produced "02.500" "105" "b" "7" ""
                , produced "03.000" "106" "b" "20" ""
                , produced "03.500" "107" "b" "50" ""
                , forked "03.600" "107" "106"
                , forked "03.700" "107" "107"
                , dropped "03.800" "107"
                , dropped "03.810" "108"
                , dropped "03.820" "109"
                , dropped "03.830" "110"
                ]
            )
        ]
      , expect =
            [ of m.firstBlock [ "101" ]
            , of m.lastBlock [ "121" ]
            , of m.totalBlocks [ "21" ]
            , of m.testStart [ "102" ]
            , of m.testEnd [ "116" ]
            , of m.setup [ "1" ]
            , of m.droppedAtEnds [ "2" ]
            , of m.leadingEmpty [ "3" ]
            , of m.trailingEmpty [ "4" ]
            , of m.tearDown [ "5" ]
            , of m.analysed [ "6" ]
            , of m.totalTransactions [ "120" ]
            , of m.totalNet [ "3400" ]
            , of m.totalCpu [ "405" ]
            , of m.totalElapsed [ "485" ]
            , of m.totalTime [ "78500" ]
            , of m.totalLatency [ "56" ]
            , of m.pairTps [ "10", "30", "40", "50", "70" ]
            , of m.sinceStart [ "0", "0.51", "1", "1.507", "2" ]
            , of m.blockCpu [ "10", "20", "50", "70", "80", "130" ]
            , of m.blockElapsed [ "10", "20", "50", "70", "130", "140" ]
            , of m.blockTime [ "4000", "8000", "11000", "13000", "14000", "16000" ]
            , of m.blockLatency [ "-5", "-1", "2", "4", "5", "7" ]
            ]
          # figures m.tps "10" "70" "40" "20"
          # [ of m.tpsEmpty [ "1" ], of m.numBlocks [ "6" ], of m.sizeEmpty [ "2" ] ]
          # figures m.size "0" "1600" "500" "600"
          # figures m.cpu "10" "130" "60" "40"
          # figures m.elapsed "10" "140" "70" "50"
          # figures m.time "4000" "16000" "11000" "4000"
          # figures m.latency "-5" "7" "2" "4"
          # [ of m.windows [ "2" ]
            , of m.windowSize [ "4" ]
            , of m.missed [ "2" ]
            , of m.received [ "1", "21" ]
            , of m.produced [ "0", "3" ]
            , of m.forks [ "0", "2" ]
            , of m.dropped [ "0", "4" ]
            , of m.targetTps [ "100" ]
            , of m.reachedTps [ "40" ]
            , of m.expected [ "120" ]
            , of m.counted [ "120" ]
            , of m.passed [ "1" ]
            ]
      , doc =
          "Blocks 108 and 111 are empty (size 0); only 108 begins a pair. The first (102 to 104) and the last (113 to 116) production window are incomplete and left out: windows of 5 and 3 blocks remain. 40 tx/s pass a target of 100 tx/s, because they are less than 100 tx/s below it."
      }

-- The first production window is complete and counts; the last is incomplete and does not.
let productionWindows =
      S.Example::{
      , name = "a complete and an incomplete production window, in a log of an older version"
      , files =
        [ Q.file "run.json" "{\"targetTPS\": 102, \"expectedTxns\": 16}"
        , Q.file
            "node_00/stderr.txt"
            ( Q.lines
                [ received "01.000" "1" "a" "1" ""
                , received "01.500" "2" "a" "1" ""
                , received "02.000" "3" "a" "1" ""
                , received "02.500" "4" "a" "1" ""
                , received "03.000" "5" "a" "1" ""
                , received "03.500" "6" "a" "1" ""
                , received "04.000" "7" "a" "1" ""
                , received "04.500" "8" "a" "1" ""
                , received "05.000" "9" "a" "1" ""
                , received "05.500" "10" "a" "1" ""
                , received "06.000" "11" "a" "1" ""
                , received "06.500" "12" "a" "1" ""
                , received "07.000" "13" "b" "1" ""
                , received "07.500" "14" "b" "1" ""
                , received "08.000" "15" "b" "1" ""
                , received "08.500" "16" "c" "1" ""
                ]
            )
        ]
      , expect =
            [ of m.windows [ "2" ]
            , of m.windowSize [ "7.5" ]
            , of m.missed [ "1" ]
            , of m.numBlocks [ "16" ]
            , of m.sizeEmpty [ "0" ]
            , Q.none m.totalNet
            , of m.reachedTps [ "2" ]
            , of m.passed [ "0" ]
            ]
          # none m.size
          # none m.cpu
          # none m.elapsed
          # none m.time
          # none m.latency
      , doc = "2 tx/s fail a target of 102 tx/s: they are 100 tx/s below it. The log has no resource usage of blocks."
      }

let single =
      S.Example::{
      , name = "one block, in a run without a target and a number of expected transactions"
      , files = [ Q.file "node_00/nodeos.log" (Q.lines [ produced "01.000" "1" "a" "7" (usage "56" "9" "8" "700" "6") ]) ]
      , expect =
            [ of m.pairTps [ "7" ]
            , of m.sinceStart [ "0" ]
            , of m.received [ "0" ]
            , of m.produced [ "1" ]
            , of m.reachedTps [ "7" ]
            , of m.counted [ "7" ]
            , Q.none m.targetTps
            , Q.none m.expected
            , Q.none m.passed
            ]
          # figures m.tps "7" "7" "7" "0"
          # figures m.size "56" "56" "56" "0"
      , doc = "With a single block in the window, that block counts alone"
      }

-- Blocks as the versions of Spring log them, the last in the system journal; and a fork switch with what it compares.
let spring =
      let of1 = \(second : Text) -> \(origin : Text) -> \(number : Text) -> \(rest : Text) ->
            line second "${origin} block 620af4ee1adc2bab... #${number} @ 2026-01-01T00:00:${second} signed by a [trxs: ${rest}]"

      in  S.Example::{
          , name = "blocks of Spring"
          , files =
            [ Q.file
                "node_00/stderr.txt"
                ( Q.lines
                    [ of1 "01.000" "Received" "1" "1, lib: 0, net: 8, cpu: 10, elapsed: 100, time: 1000, latency: 4 ms"
                    , of1 "01.500" "Received" "2" "2, lib: 1, net: 16, cpu: 20 us, elapsed: 200 us, applying time: 2000 us, latency: 6 ms"
                    , "0|nodeos  | ${of1 "02.000" "Received" "3" "3, lib: 2, net: 24, cpu: 30 us, elapsed: 300 us, applying time: 3000 us, latency: 8 ms"}"
                    , "Jan 01 00:00:02 host nodeos[7]: ${of1 "02.500" "Received" "4" "4, lib: 3, net: 32, cpu: 40 us, elapsed: 400 us, applying time: 4000 us, latency: 10 ms"}"
                    ]
                )
            , Q.file
                "node_01/stderr.txt"
                ( Q.lines
                    [ of1 "01.000" "Produced" "1" "1, lib: 0, net: 8, cpu: 10, elapsed: 100, time: 1000"
                    , of1 "01.500" "Produced" "2" "2, lib: 1, confirmed: , confirmed: 0, net: 16, cpu: 20 us, elapsed: 200 us, producing time: 2000 us"
                    , of1 "02.000" "Produced" "3" "3, lib: 2, confirmed: 0, net: 24, cpu: 30 us, elapsed: 300 us, producing time: 3000 us"
                    , of1 "02.500" "Produced" "4" "4, lib: 3, net: 32, cpu: 40 us, elapsed: 400 us, producing time: 4000 us"
                    , line
                        "02.600"
                        "switching forks from 620af4ee1adc2bab (block number 4) [ latest_qc_claim__block_ref: 1, timestamp: 2 ] to 3876cda17d2a4f14 (block number 3) [ latest_qc_claim__block_ref: 2, timestamp: 1 ]"
                    ]
                )
            ]
          , expect =
            [ of m.pairTps [ "3", "5", "7" ]
            , of m.totalNet [ "80" ]
            , of m.totalCpu [ "100" ]
            , of m.totalElapsed [ "1000" ]
            , of m.totalTime [ "10000" ]
            , of m.totalLatency [ "28" ]
            , of m.received [ "0", "4" ]
            , of m.produced [ "0", "4" ]
            , of m.forks [ "0", "1" ]
            ]
          }

let transactions =
      S.Example::{
      , name = "transactions of two generators"
      , files =
        [ Q.file
            "trxGenLogs/trx_data_output_1.txt"
            ( Q.lines
                [ "aa,2026-01-01T00:00:00.400,2026-01-01T00:00:00.400900,900,12,270,16,2026-01-01T00:00:00.500Z"
                , "bb,2026-01-01T00:00:00.300,2026-01-01T00:00:00.301700,1700,13,130,22,2026-01-01T00:00:01.000Z"
                , "cc,2026-01-01T00:00:00.600,2026-01-01T00:00:00.600500,500"
                ]
            )
        , Q.file
            "trxGenLogs/trx_data_output_2.txt"
            ( Q.lines
                [ "dd,2026-01-01T00:00:00.600,2026-01-01T00:00:00.600300,300,14,210,8,2026-01-01T00:00:01.500Z"
                , "ee,2026-01-01T00:00:00.500,2026-01-01T00:00:00.501100,1100,15,190,14,2026-01-01T00:00:02.000Z"
                ]
            )
        ]
      , expect =
            [ of m.samples [ "4" ] ]
          # figures m.trxLatency "0.1" "1.5" "0.8" "0.5"
          # figures m.trxCpu "130" "270" "200" "50"
          # figures m.trxNet "8" "22" "15" "5"
          # figures m.ack "300" "1700" "1000" "500"
      , doc = "The third transaction has a response but is in no block: no metric counts it"
      }

let notInBlock =
      S.Example::{
      , name = "a transaction in no block"
      , files = [ Q.file "trxGenLogs/trx_data_output_1.txt" (Q.lines [ "cc,2026-01-01T00:00:00.600,NA,-1" ]) ]
      , expect = [ Q.none m.samples ] # none m.trxLatency
      }

in  [ phases, productionWindows, single, spring, transactions, notInBlock ]
