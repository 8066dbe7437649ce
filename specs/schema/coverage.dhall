-- Coverage: which records a complete run has. What is expected and missing is a finding on the quality of the data.
let E = ./event.dhall

let G = ./grain.dhall

-- The expected records of an event, or rows with an instant.
--   name         the event; or the instant, behind its grain: `block.sent`
--   onSomeHosts  not every host has such records (not every row this instant): one without is no finding
--   dropped      a field that names the records which the log itself says were dropped; empty: it says nothing of the kind
--   count        a field with their number, where there is one
let Coverage =
      { Type = { name : Text, onSomeHosts : Bool, dropped : Text, count : Text }
      , default = { onSomeHosts = False, dropped = "", count = "" }
      }

in  { Coverage
      -- an event that only some hosts have
    , onSomeHosts = \(e : E.Event) -> Coverage::{ name = e.name, onSomeHosts = True }
      -- an instant that only some rows of its grain have
    , onSomeRows = \(i : G.Instant.Type) -> Coverage::{ name = "${i.grain}.${i.name}", onSomeHosts = True }
      -- an event by which a log says that records were dropped: `names` is the field that says which
    , dropNotice =
        \(e : E.Event) -> \(names : E.Field) -> Coverage::{ name = e.name, onSomeHosts = True, dropped = names.name }
    }
