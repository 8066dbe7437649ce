-- Output of the performance harness: logs of the nodes, records of the transaction generators, facts in run.json.
let S = ../../schema/package.dhall

let U = S.unit

let D = ../units.dhall

let fact =
      \(c : { name : Text, path : List Text, type : Text, unit : S.Unit, default : Text, doc : Text }) ->
        S.Constant::(c.{ name, path, type, unit, doc } /\ { files = [ "run.json" ], default = Some c.default })

let constant =
      { completed =
          fact
            { name = "completed", path = [ "testRunCompleted" ], type = "boolean", unit = U.none, default = "true"
            , doc = "Run completed"
            }
      , targetTps =
          fact
            { name = "target_tps", path = [ "targetTPS" ], type = "integer", unit = D.transactionPerSecond, default = "-1"
            , doc = "Target of transactions per second (-1: not specified)"
            }
      , expected =
          fact
            { name = "expected_transactions", path = [ "expectedTxns" ], type = "integer", unit = D.transaction
            , default = "-1", doc = "Transactions sent (-1: not specified)"
            }
      , testStart =
          fact
            { name = "test_start", path = [ "testStartBlockNum" ], type = "integer", unit = D.block, default = "-1"
            , doc = "First block of the test (-1: first of the log)"
            }
      , testEnd =
          fact
            { name = "test_end", path = [ "testEndBlockNum" ], type = "integer", unit = D.block, default = "-1"
            , doc = "Last block of the test (-1: last of the log)"
            }
      , drop =
          fact
            { name = "additional_drop", path = [ "configAddlDropCnt" ], type = "integer", unit = D.block, default = "0"
            , doc = "Blocks dropped at each end, in addition to the empty ones"
            }
      }

let nodes =
      S.Source::{
      , name = "nodes"
      , kind = "text-lines"
      , hosts = "node_*"
      , logs = [ "stderr*.txt", "nodeos*.txt", "nodeos*.log" ]
      , line = "{?{} {} {} {} {}: ?}{?{}|{} | ?}{level} {at} {thread} {file} {function} ] {message...}"
      , time = [ "at" ]
      , body = [ "message" ]
      , zone = "UTC"
      , lookups = [] : List S.source.Lookup
      , ignored =
        [ "# reversible blocks replayed"
        , "/*"
        , "Accepted new connection*"
        , "Adjusting genesis timestamp*"
        , "Blockchain started*"
        , "Checktime timer accuracy*"
        , "Creating and starting monitor thread"
        , "Initializing new blockchain*"
        , "Monitoring interval set*"
        , "No existing chain state*"
        , "Saved default specification*"
        , "Shutdown flag *"
        , "Space usage threshold*"
        , "Starting fresh blockchain state*"
        , "Subjective CPU billing*"
        , "Support for builtin protocol feature*"
        , "Using genesis state*"
        , "Warning interval*"
        , "[# - # #.#.#.#:#] *"
        , "acceptor_.*"
        , "add api url: *"
        , "close # connections"
        , "created *"
        , "exit shutdown"
        , "ignoring request*"
        , "initializing *"
        , "my node_id is *"
        , "no irreversible blocks *"
        , "nodeos *"
        , "old state *"
        , "p#p client connections*"
        , "producer plugin: *"
        , "promoting proposed schedule*"
        , "proposed producer schedule*"
        , "replayed # blocks *"
        , "shutdown..*"
        , "start listening *"
        , "starting *"
        ]
      , constants =
        [ constant.completed
        , constant.targetTps
        , constant.expected
        , constant.testStart
        , constant.testEnd
        , constant.drop
        ]
      , doc = "Logs of the nodes; logs of the first EOSIO versions (`2449775ms thread-0 ...`) have no dates and cannot be read"
      }

let generators =
      S.Source::{
      , name = "generators"
      , kind = "text-lines"
      , hosts = ""
      , logs = [ "trxGenLogs/trx_data_output_*.txt" ]
      , time = [ "sent" ]
      , body = [] : List Text
      , zone = "UTC"
      , lookups = [] : List S.source.Lookup
      , doc = "Records of the transaction generators"
      }

in  { nodes, generators, constant }
