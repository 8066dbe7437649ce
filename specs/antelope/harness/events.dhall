-- Lines of a node's log, and records of the transaction generators.
let S = ../../schema/package.dhall

let map = ../../Prelude/List/map.dhall

let E = S.event

let U = S.unit

let D = ../units.dhall

let source = ./source.dhall

let form =
      \(patterns : List Text) -> \(fields : List S.Field) ->
        { names = map Text E.Name (\(name : Text) -> { generation = "nodeos", name }) patterns
        , unless = [] : List E.Unless
        , fields
        }

let optional = \(unit : S.Unit) -> \(f : S.Field) -> E.optional (E.inUnit unit f)

let f =
      { number = E.inUnit D.block (E.integer "number")
      , producer = E.text "producer"
      , stamp = E.text "stamp"
      , transactions = E.inUnit D.transaction (E.integer "transactions")
      , net = optional U.byte (E.integer "net")
      , cpu = optional D.microsecond (E.integer "cpu")
      , elapsed = optional D.microsecond (E.integer "elapsed")
      , timeTaken = optional D.microsecond (E.integer "time_taken")
      , latency = optional U.millisecond (E.integer "latency")
      , origin = E.text "origin"
      , from = E.at [ "from" ] (E.inUnit D.block (E.integer "from_number"))
      , to = E.at [ "to" ] (E.inUnit D.block (E.integer "to_number"))
      , id = E.text "id"
      , acknowledged = E.text "acknowledged"
      , ack = E.inUnit D.microsecond (E.integer "ack")
      , inBlock = E.optional (E.inUnit D.block (E.integer "in_block"))
      , trxCpu = optional D.microsecond (E.integer "trx_cpu")
      , trxNet = optional D.netWord (E.integer "trx_net")
      , blockTime = E.optional (E.text "block_time")
      }

let ofBlock =
      \(origin : Text) ->
        [ f.number
        , f.producer
        , f.stamp
        , f.transactions
        , f.net
        , f.cpu
        , f.elapsed
        , f.timeTaken
        , f.latency
        , E.always origin f.origin
        ]

-- Log lines of a block by version. EOSIO does not log net, cpu, elapsed and time; Leap does. Spring 1.0.0 omits the
-- number of blocks that the producer confirms; since 1.0.2 it logs units, and repeats `confirmed` for blocks before
-- Savanna 1.0. Lines of produced blocks have no latency.
let blockLines =
      \(origin : Text) ->
        let start = "${origin} block {id}... #{number} @ {stamp} signed by {producer} [trxs: {transactions}, lib: {}"

        let end = "{?, latency: {latency} ms?}]"

        in  [ "${start}, {}: {}{?, net: {net}, cpu: {cpu}, elapsed: {elapsed}, time: {time_taken}?}${end}"
            , "${start}, net: {net}, cpu: {cpu}, elapsed: {elapsed}, time: {time_taken}${end}"
            , "${start}{?, confirmed: ?}{?, confirmed: {}?}, net: {net}, cpu: {cpu} us, elapsed: {elapsed} us, {} time: {time_taken} us${end}"
            ]

let block =
        { name = "block"
        , source = source.nodes.name
        , forms =
          [ form (blockLines "Received") (ofBlock "received")
          , form (blockLines "Produced") (ofBlock "produced")
          ]
        , doc = "The node received or produced a block"
        }
      : S.Event

let dropped =
        { name = "dropped"
        , source = source.nodes.name
        , forms =
          [ form
              -- The second: EOSIO 1.8.10 to 1.8.12 and 2.0.1 to 2.0.3.
              [ "dropped incoming block #{number} id: {id}"
              , "dropped incoming block #{number} while producing #{} for {}, id: {id}"
              ]
              [ f.number, f.id ]
          ]
        , doc = "The node dropped a block that it received while it was producing"
        }
      : S.Event

let forked =
        { name = "forked"
        , source = source.nodes.name
        , forms =
          [ form
              [ "switching forks from {} (block number {from}) to {} (block number {to})"
              , "switching forks from {} (block number {from}) {...} to {} (block number {to}) {...}"
              , "switching forks from {} (block number {from} {}) to {} (block number {to} {})"
              , "switching forks from {} (block number {from} {}) {...} to {} (block number {to} {}) {...}"
              ]
              [ f.from, f.to ]
          ]
        , doc = "The node switched to another fork"
        }
      : S.Event

let sent =
        { name = "sent"
        , source = source.generators.name
        , forms =
          [ form
              [ "{id},{sent},{acknowledged},{ack}{?,{in_block},{trx_cpu},{trx_net},{block_time}?}" ]
              [ f.id, f.acknowledged, f.ack, f.inBlock, f.trxCpu, f.trxNet, f.blockTime ]
          ]
        , doc = "A generator sent a transaction; if known, with the block that includes it"
        }
      : S.Event

in  { field = f, block, dropped, forked, sent }
