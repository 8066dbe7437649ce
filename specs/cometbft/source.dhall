-- The data of a QA run: the load tool's report, samples from its Prometheus server, logs of the nodes.
let S = ../schema/package.dhall

let U = S.unit

let meta = [ "meta.json" ]

-- The number of an experiment that meta.json specifies.
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
          , doc = "Name of the run in reports"
          }
      , commit =
          S.Constant::{
          , name = "commit"
          , files = meta
          , path = [ "commit" ]
          , type = "text"
          , default = Some ""
          , doc = "Commit of the version (empty: unknown)"
          }
      , length =
          S.Constant::{
          , name = "experiment_length"
          , files = meta
          , path = [ "experiment_seconds" ]
          , type = "integer"
          , unit = U.second
          , default = Some "90"
          , doc = "Length of an experiment"
          }
      , chosen = numberOf "chosen_experiment" "chosen" "Number of the experiment chosen for figures (0: chosen by the rule)"
      , fault = numberOf "fault_experiment" "fault" "Number of the experiment with a fault (0: none)"
      , overload = numberOf "overload_experiment" "overload" "Number of the overloaded experiment (0: chosen by the rule)"
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
      , logs = [ "report/*.csv", "results/raw.csv" ]
      , time = [ "block_time" ]
      , body = [] : List Text
      , lookups = [] : List S.source.Lookup
      , constants =
        [ constant.ident
        , constant.commit
        , constant.length
        , constant.chosen
        , constant.fault
        , constant.overload
        , constant.extensions
        ]
      , doc = "Reports of the load tool, with a row for each transaction in a block"
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
      , doc = "Samples of the nodes' metrics, from a Prometheus server"
      }

-- The log of a node is a file. A line is recognised by its message, or else by its level.
let logs =
      S.Source::{
      , name = "nodes"
      , hosts = "logs/*.log"
      , hostFiles = True
      , time = [ "ts" ]
      -- Release candidates of 2.0 and nodes of the Cosmos SDK have other loggers.
      , orTime = [ [ "time" ] ]
      , body = [] : List Text
      , lookups =
        [ { path = [ "_msg" ], inBody = False, drop = "", generation = "message" }
        , { path = [ "message" ], inBody = False, drop = "", generation = "message" }
        , { path = [ "msg" ], inBody = False, drop = "", generation = "message" }
        , { path = [ "level" ], inBody = False, drop = "", generation = "level" }
        ]
      -- Other messages at level info in 0.38.26, 0.39.4, 0.40.0, 1.0.1 and 2.0.0-rc1.
      , ignored =
        [ "ABCI Handshake App Info"
        , "ABCI Replay Blocks"
        , "Adaptive sync (blocksync + consensus) is enabled!"
        , "Add address to blacklist"
        , "Add address to denylist"
        , "Add our address to book"
        , "Added reactor"
        , "Adding peer"
        , "Adding persistent peers"
        , "Adding unconditional peer ids"
        , "Applied snapshot chunk to ABCI app"
        , "Applying block"
        , "Attempting to add evidence"
        , "Block Sync Rate"
        , "Block was included concurrently. Skipping"
        , "Blockstore version"
        , "Broadcast routine stopped"
        , "Can't write response (slow client)"
        , "Catchup by replaying consensus messages"
        , "Check evidence: verified evidence of byzantine behavior"
        , "Client closed the connection"
        , "Closing *"
        , "Commit is for a block we do not know about; set ProposalBlock=nil"
        , "Completed ABCI Handshake*"
        , "Connected to peer"
        , "Connecting to bootstrap peers"
        , "Connecting to peer"
        , "Connection is closed*"
        , "Could not check tx"
        , "Creating genesis file chunks if genesis file is too big..."
        , "DialPeers"
        , "DialSeeds"
        , "Discovered new snapshot"
        , "Discovering snapshots"
        , "Discovering snapshots for *"
        , "Enabled inbound and outbound transactions"
        , "Enabling blocksync reactor"
        , "Enabling inbound and outbound transactions"
        , "Ensure peers"
        , "Error reconnecting to peer*"
        , "Evidence already pending, ignoring this one"
        , "Evidence was already committed, ignoring this one"
        , "Executed block"
        , "Failed to insert tx"
        , "Failed to write pong (client may disconnect)"
        , "Fetching snapshot chunk"
        , "Finalizing commit of block"
        , "Found"
        , "Found local state with non-zero height, skipping state sync"
        , "Found signature from the same key"
        , "Genesis time is in the future. Sleeping until then..."
        , "Ignoring connection to self"
        , "Ignoring inbound connection*"
        , "Ignoring message received during sync"
        , "Inbound Peer rejected"
        , "Index pruner started"
        , "New websocket connection"
        , "No addresses to dial*"
        , "No bootstrap peers provided in the config"
        , "No extended commit yet"
        , "No parts to send in catch-up, sleeping"
        , "Not sending peer old evidence"
        , "Offering snapshot to ABCI app"
        , "P2P Node ID"
        , "PEX reactor is disabled when using go-libp2p transport"
        , "Peek connection buffer"
        , "Peer Height|Round mismatch, sleeping"
        , "Peer ProposalBlockPartSetHeader mismatch, sleeping"
        , "Peer asking for a block we don't have"
        , "Peer does not implement DataChannel."
        , "Peer does not implement VoteChannel."
        , "Peer is reporting height/base that is lower than what it previously reported"
        , "Peer reporting base greater than height"
        , "Peer sent us vote with invalid ValidatorIndex"
        , "Ping"
        , "Prevote step: Proposal is not timely; prevoting nil"
        , "Prevote step: ProposalBlock is valid and received a 2/3"
        , "Pruned ABCI responses"
        , "RPC HTTP server *"
        , "Reactor *"
        , "Received complete proposal block"
        , "Reconnected to peer"
        , "Reconnecting to peer"
        , "Reinstated address"
        , "Rejecting peer due to max peers limit"
        , "Remove address from book"
        , "Removing peer"
        , "Replacing existing reactor with a custom one"
        , "Replay last block using mock app"
        , "Replay last block using real app"
        , "Replay: *"
        , "Resetting proposal info"
        , "Retrying snapshot"
        , "Saving AddrBook to file"
        , "Searching for height"
        , "Short-circuited needProofBlock"
        , "SignerListener: Blocking for connection"
        , "SignerListener: Connected"
        , "SignerListener: Listening for new connection"
        , "Slow pending envelope detected"
        , "Snapshot accepted, restoring"
        , "Snapshot format rejected"
        , "Snapshot rejected"
        , "Snapshot restored"
        , "Snapshot sender rejected"
        , "Snapshot senders rejected"
        , "Software and state have different block protocols"
        , "Started pruning ABCI responses"
        , "Started pruning blocks"
        , "Starting blocksync block ingestor (adaptive sync)"
        , "Starting blocksync pool routine"
        , "Starting lib-p2p switch"
        , "Starting reactor"
        , "Starting reactor in sync mode: consensus protocols will start once sync completes"
        , "Starting reactor in sync mode: tx propagation will start once sync completes"
        , "Starting state sync"
        , "State store key layout version "
        , "Stopping LibP2PSwitch"
        , "Stopping Node"
        , "Stopping peer gracefully"
        , "Stopping peerStatsRoutine"
        , "Stopping reactor"
        , "Subscribe to query"
        , "Subscription canceled with errors"
        , "Successfully repaired WAL file"
        , "SwitchToConsensus"
        , "This node is *"
        , "Timed out"
        , "Timed out validating snapshot, rejecting"
        , "Tx broadcasting is disabled"
        , "Unimplemented LibP2PSwitch method called"
        , "Unsubscribe from all"
        , "Unsubscribe from query"
        , "Updates to validators"
        , "Using libp2p transport"
        , "Verified ABCI app"
        , "Verified new evidence of byzantine behavior"
        , "Version info"
        , "WARNING: BoltDB and GoLevelDB are deprecated and will be removed in a future release. Please switch to a different backend."
        , "WARNING: deleting genesis file from database if present, the database stores a hash of the original genesis file now"
        , "WSJSONRPC"
        , "Waiting for mempool reactor to be switched on"
        , "We need more addresses*"
        , "commit is for a block we do not know about*"
        , "deprecated usage found in configuration file"
        , "enabling inbound and outbound transactions"
        , "evidence already committed; ignoring"
        , "evidence already pending; ignoring"
        , "executed block"
        , "expire new"
        , "failed attempting to add vote"
        , "failed to fetch and verify CometBFT state"
        , "failed to fetch and verify app hash"
        , "failed to fetch and verify commit"
        , "failed to ingest verified block"
        , "finalizing commit of block"
        , "found signature from the same key"
        , "indexed block events"
        , "ingested verified block"
        , "ingesting verified block"
        , "new bucket is full, expiring new"
        , "no config provided, using default configuration"
        , "no extended commit yet"
        , "prevote step: Proposal is not timely; prevoting nil"
        , "received complete proposal block"
        , "resetting proposal info"
        , "serve"
        , "serve tls"
        , "service start"
        , "service stop"
        , "short-circuited needProofBlock"
        , "signal trapped"
        , "statesync complete. switching to blocksync with new state"
        , "successful WAL repair"
        , "sync any"
        , "updates to validators"
        , "verified new evidence of byzantine behavior"
        , "warning: cannot verify appHash. Verification will happen when node boots up!"
        ]
      , doc = "Logs of the nodes, as JSON lines: `log_format = \"json\"` in config.toml"
      }

in  { load, samples, logs, constant }
