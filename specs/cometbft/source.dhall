-- What a QA run leaves: the report of the load tool, and the samples of its Prometheus server.
let S = ../schema/package.dhall

let U = S.unit

let meta = [ "meta.json" ]

-- An experiment that the author of the run names.
let numberOf =
      \(name : Text) -> \(key : Text) -> \(doc : Text) ->
        S.Constant::{ name, files = meta, path = [ "experiments", key ], type = "integer", default = Some "0", doc }

let constant =
      { ident =
          S.Constant::{
          , name = "ident"
          , files = meta
          , path = [ "ident" ]
          , type = "text"
          , default = Some "run"
          , doc = "What the run is called in reports"
          }
      , length =
          S.Constant::{
          , name = "experiment_length"
          , files = meta
          , path = [ "experiment_seconds" ]
          , type = "integer"
          , unit = U.second
          , default = Some "90"
          , doc = "How long the load tool sends in an experiment"
          }
      , chosen = numberOf "chosen_experiment" "chosen" "Experiment chosen for figures, by its number (0: the rule chooses)"
      , fault = numberOf "fault_experiment" "fault" "Experiment with a fault, by its number (0: none)"
      , overload = numberOf "overload_experiment" "overload" "Overloaded experiment, by its number (0: the rule chooses)"
      , extensions =
          S.Constant::{
          , name = "vote_extensions"
          , files = meta
          , path = [ "vote_extensions" ]
          , type = "text"
          , default = Some ""
          , doc = "Case of vote extensions (empty: none)"
          }
      }

let load =
      S.Source::{
      , name = "load"
      , kind = "csv"
      , hosts = ""
      , logs = [ "report/*.csv" ]
      , time = [ "block_time" ]
      , body = [] : List Text
      , lookups = [] : List S.source.Lookup
      , constants =
        [ constant.ident, constant.length, constant.chosen, constant.fault, constant.overload, constant.extensions ]
      , doc = "Reports of the load tool: a row a transaction that was found in a block"
      }

let samples =
      S.Source::{
      , name = "samples"
      , kind = "samples"
      , hosts = ""
      , logs = [ "prom/raw*.json", "*.parquet", "*.om" ]
      , time = [] : List Text
      , body = [] : List Text
      , lookups = [] : List S.source.Lookup
      , doc = "Samples of the nodes' metrics, as a Prometheus server has them"
      }

-- The log of a node is a file; what a line is stands in its message, or else in its level.
let logs =
      S.Source::{
      , name = "nodes"
      , hosts = "logs/*.log"
      , hostFiles = True
      , time = [ "ts" ]
      , body = [] : List Text
      , lookups =
        [ { path = [ "_msg" ], inBody = False, drop = "", generation = "message" }
        , { path = [ "level" ], inBody = False, drop = "", generation = "level" }
        ]
      , ignored =
        [ "ABCI Handshake App Info"
        , "ABCI Replay Blocks"
        , "Add our address to book"
        , "Adding persistent peers"
        , "Adding unconditional peer ids"
        , "Applying block"
        , "Block Sync Rate"
        , "Catchup by replaying consensus messages"
        , "Client closed the connection"
        , "Closing *"
        , "Completed ABCI Handshake*"
        , "Connection is closed*"
        , "Ensure peers"
        , "Error reconnecting to peer*"
        , "Found"
        , "Ignoring inbound connection*"
        , "New websocket connection"
        , "No addresses to dial*"
        , "P2P Node ID"
        , "RPC HTTP server *"
        , "Reactor *"
        , "Reconnecting to peer"
        , "Replay: *"
        , "Saving AddrBook to file"
        , "Searching for height"
        , "Stopping Node"
        , "SwitchToConsensus"
        , "This node is *"
        , "Timed out"
        , "Version info"
        , "WSJSONRPC"
        , "We need more addresses*"
        , "commit is for a block we do not know about*"
        , "executed block"
        , "finalizing commit of block"
        , "indexed block events"
        , "received complete proposal block"
        , "resetting proposal info"
        , "serve"
        , "service start"
        , "service stop"
        , "signal trapped"
        ]
      , doc = "Logs of the nodes, as JSON lines"
      }

in  { load, samples, logs, constant }
