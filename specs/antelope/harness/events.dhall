-- Lines of a node's log, and what a generator notes of a transaction.
let S = ../../schema/package.dhall

let E = S.event

let U = S.unit

let D = ../units.dhall

let source = ./source.dhall

let form =
      \(patterns : List Text) -> \(fields : List S.Field) ->
        { names =
            List/fold
              Text
              patterns
              (List E.Name)
              (\(name : Text) -> \(rest : List E.Name) -> [ { generation = "nodeos", name } ] # rest)
              ([] : List E.Name)
        , unless = [] : List E.Unless
        , fields
        }

let told = \(unit : S.Unit) -> \(f : S.Field) -> E.optional (E.inUnit unit f)

let f =
      { number = E.inUnit D.block (E.integer "number")
      , producer = E.text "producer"
      , stamp = E.text "stamp"
      , transactions = E.inUnit D.transaction (E.integer "transactions")
      , net = told U.byte (E.integer "net")
      , cpu = told D.microsecond (E.integer "cpu")
      , elapsed = told D.microsecond (E.integer "elapsed")
      , timeTaken = told D.microsecond (E.integer "time_taken")
      , latency = told U.millisecond (E.integer "latency")
      , origin = E.text "origin"
      , from = E.at [ "from" ] (E.inUnit D.block (E.integer "from_number"))
      , to = E.at [ "to" ] (E.inUnit D.block (E.integer "to_number"))
      , id = E.text "id"
      , acknowledged = E.text "acknowledged"
      , ack = E.inUnit D.microsecond (E.integer "ack")
      , inBlock = E.optional (E.inUnit D.block (E.integer "in_block"))
      , trxCpu = told D.microsecond (E.integer "trx_cpu")
      , trxNet = told D.netWord (E.integer "trx_net")
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

-- Lines of a block in the versions that there are. EOSIO tells no net, cpu, elapsed and time; Leap does. Spring 1.0.0 leaves
-- out how many blocks the producer confirms; since 1.0.2 it names the units, and of a block ahead of Savanna 1.0 repeats
-- `confirmed`. Of a produced block no latency is told.
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
        , doc = "The node has received a block, or produced one"
        }
      : S.Event

let dropped =
        { name = "dropped"
        , source = source.nodes.name
        , forms = [ form [ "dropped incoming block #{number} id: {id}" ] [ f.number, f.id ] ]
        , doc = "The node has dropped a block that came in while it was producing"
        }
      : S.Event

let forked =
        { name = "forked"
        , source = source.nodes.name
        , forms =
          [ form
              [ "switching forks from {} (block number {from}) to {} (block number {to})"
              , "switching forks from {} (block number {from}) {...} to {} (block number {to}) {...}"
              ]
              [ f.from, f.to ]
          ]
        , doc = "The node has switched to another fork"
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
        , doc = "A generator has sent a transaction; what is known of the block that holds it"
        }
      : S.Event

in  { field = f, block, dropped, forked, sent }
