-- What a complete run has: events that only some hosts have, instants of some rows, and records by which a log says that others were dropped.
let S = ../schema/package.dhall

let E = S.event

let events = ./events.dhall

let names = \(name : Text) -> [ { generation = "new", name }, { generation = "middle", name } ] : List E.Name

-- the name of the records that were dropped, and how many were when the limiter stops
let dropped = E.at [ "name" ] (E.text "dropped")

let number = E.optional (E.at [ "numSuppressed" ] (E.integer "number"))

let limited =
        { name = "records_limited"
        , source = (./source.dhall).logs.name
        , forms =
          [ { names =
                  names "Reflection.StartLimiting"
                # names "Reflection.StopLimiting"
                # names "StartLimiting"
                # names "StopLimiting"
            , unless = [] : List E.Unless
            , fields = [ dropped, number ]
            }
          ]
        , doc = "The tracing system begins or ends to drop records of a name"
        }
      : S.Event

in  { limited
    , coverage =
      [ S.onSomeHosts events.blockForged
      , S.onSomeHosts events.ledgerTicked
      , S.onSomeRows (./grains/observation.dhall).at.sending
      , S.onSomeHosts events.mempoolSnapshot
      , S.dropNotice limited dropped // { count = number.name }
      ]
    }
