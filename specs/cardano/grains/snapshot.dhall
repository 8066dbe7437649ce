-- A record of a ledger snapshot: where it begins or ends.
let S = ../../schema/package.dhall

let e = ../events.dhall

in  S.grain.eachRecord
      { name = "snapshot_record"
      , event = e.ledgerSnapshot
      , fields = [ e.field.edge, e.field.enclosed ]
      , doc = "A record of a ledger snapshot that a host begins or ends to write"
      }
