-- Nodes and machines as their samples describe them, over the time of all experiments.
let S = ../schema/package.dhall

let G = S.grain

let X = S.x

let U = S.unit

let D = ./units.dhall

let s = ./series.dhall

let column = G.column

let c =
      { job = column "text" "job" U.none "Job of the target"
      , instance = column "text" "instance" U.none "Target"
      , leastPeers = column "integer" "least_peers" D.peer "Least number of peers"
      , mostPeers = column "integer" "most_peers" D.peer "Greatest number of peers"
      , highestRound = column "integer" "highest_round" D.roundNumber "Highest round"
      , blockRate = column "real" "block_rate" D.blockPerMinute "Average block rate"
      , mempoolSize = column "real" "mempool_size" D.transaction "Average number of transactions in the mempool"
      , mostMemory = column "integer" "most_memory" U.byte "Greatest resident memory"
      , averageLoad = column "real" "average_load" U.none "Average of the one-minute load average"
      , highestLoad = column "real" "highest_load" U.none "Highest one-minute load average"
      }

let key = [ c.job.name, c.instance.name ]

let nodes =
      S.Relation::{
      , name = "sampled_nodes"
      , sql = ../../queries/cometbft/sampled_nodes.sql as Text
      , uses = [ s.peers.name, s.rounds.name, s.blockRate.name, s.mempoolSize.name, s.nodeMemory.name ]
      , columns =
        [ c.job, c.instance, c.leastPeers, c.mostPeers, c.highestRound, c.blockRate, c.mempoolSize, c.mostMemory ]
      , key
      , doc = "Nodes, from their samples over the time of all experiments"
      }

let machines =
      S.Relation::{
      , name = "sampled_machines"
      , sql = ../../queries/cometbft/sampled_machines.sql as Text
      , uses = [ s.cpu.name ]
      , columns = [ c.job, c.instance, c.averageLoad, c.highestLoad ]
      , key
      , doc = "Load averages of machines, from their samples over the time of all experiments"
      }

let grain =
      \(name : Text) -> \(r : S.Relation.Type) -> \(doc : Text) ->
        S.Grain::{ name, relation = r.name, key, columns = r.columns, doc }

let node = grain "sampled_node" nodes "A node, from its samples"

let machine = grain "sampled_machine" machines "A machine, from its samples"

let measured =
      \(g : S.Grain.Type) ->
      \(m : { id : Text, name : Text, of : S.Column, unit : S.Unit, better : Text, doc : Text }) ->
        S.Metric::{
        , id = m.id
        , name = m.name
        , grain = g.name
        , measure = X.column m.of
        , accepted = False
        , unit = m.unit
        , better = m.better
        , doc = m.doc
        }

let ofNode = measured node

let ofMachine = measured machine

in  { column = c
    , relations = [ nodes, machines ]
    , grain = { node, machine }
    , metric =
      { leastPeers =
          ofNode
            { id = "peers_least", name = "Minimum peers", of = c.leastPeers, unit = D.peer, better = "neither"
            , doc = "Least number of peers of the node"
            }
      , mostPeers =
          ofNode
            { id = "peers_most", name = "Maximum peers", of = c.mostPeers, unit = D.peer, better = "neither"
            , doc = "Greatest number of peers of the node"
            }
      , highestRound =
          ofNode
            { id = "round_highest", name = "Highest round", of = c.highestRound, unit = D.roundNumber, better = "lower"
            , doc = "Highest round of consensus of the node; the first round is 0"
            }
      , blockRate =
          ofNode
            { id = "block_rate_avg", name = "Average block rate", of = c.blockRate, unit = D.blockPerMinute
            , better = "higher"
            , doc = "Mean over time of the node's blocks per minute"
            }
      , mempoolSize =
          ofNode
            { id = "mempool_size_avg", name = "Average mempool size", of = c.mempoolSize, unit = D.transaction
            , better = "lower"
            , doc = "Mean over time of the number of transactions in the node's mempool"
            }
      , mostMemory =
          ofNode
            { id = "memory_most", name = "Maximum resident memory", of = c.mostMemory, unit = U.mebibyte, better = "lower"
            , doc = "Greatest resident memory of the node's process"
            }
      , averageLoad =
          ofMachine
            { id = "load_avg", name = "Average load", of = c.averageLoad, unit = U.none, better = "lower"
            , doc = "Mean over time of the machine's one-minute load average"
            }
      , highestLoad =
          ofMachine
            { id = "load_highest", name = "Maximum load", of = c.highestLoad, unit = U.none, better = "lower"
            , doc = "Highest one-minute load average of the machine"
            }
      }
    }
