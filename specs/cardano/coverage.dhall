-- Coverage of a complete run: events that only some hosts have, instants of some rows, and records about dropped
-- records.
let S = ../schema/package.dhall

let events = ./events.dhall

let f = events.field

in  [ S.onSomeHosts events.blockForged
    , S.onSomeHosts events.ledgerTicked
    , S.onSomeRows (./grains/observation.dhall).at.sending
    , S.onSomeHosts events.mempoolSnapshot
    , S.dropNotice events.recordsLimited f.dropped // { count = f.numSuppressed.name }
    ]
