-- What a complete run has: events that only some hosts have, instants of some rows, and records by which a log says that
-- others were dropped.
let S = ../schema/package.dhall

let events = ./events.dhall

let f = events.field

in  [ S.onSomeHosts events.blockForged
    , S.onSomeHosts events.ledgerTicked
    , S.onSomeRows (./grains/observation.dhall).at.sending
    , S.onSomeHosts events.mempoolSnapshot
    , S.dropNotice events.recordsLimited f.dropped // { count = f.numSuppressed.name }
    ]
