-- Coverage: which records a complete run has. Expected records that are missing are a finding under *Data quality*.
let E = ./event.dhall

let G = ./grain.dhall

-- The expected records of an event, or rows with an instant.
--   name         the event; or the instant, behind its grain: `block.sent`
--   onSomeHosts  not every host has such records (not every row this instant), so a host without is no finding
--   dropped      a field with the name of the records that were dropped, for an event about dropped records; else empty
--   count        a field with the number of dropped records, if any
let Coverage =
      { Type = { name : Text, onSomeHosts : Bool, dropped : Text, count : Text }
      , default = { onSomeHosts = False, dropped = "", count = "" }
      }

in  { Coverage
      -- an event that only some hosts have
    , onSomeHosts = \(e : E.Event) -> Coverage::{ name = e.name, onSomeHosts = True }
      -- an instant that only some rows of its grain have
    , onSomeRows = \(i : G.Instant.Type) -> Coverage::{ name = "${i.grain}.${i.name}", onSomeHosts = True }
      -- an event about dropped records: `names` is the field with their name
    , dropNotice =
        \(e : E.Event) -> \(names : E.Field) -> Coverage::{ name = e.name, onSomeHosts = True, dropped = names.name }
    }
