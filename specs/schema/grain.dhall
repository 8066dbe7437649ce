-- Relations (SQL over events), and grains: what one sample is about.
let U = ./units.dhall

let X = ./expression.dhall

let E = ./event.dhall

let Column = X.Column

let Expression = X.Expression

-- Rows that must not exist: a query over the relation; `message` and `hint` have `{column}` places for its columns.
--   severity    error (the run cannot be analysed) or warning (printed in the report)
let Check =
      { Type = { code : Text, sql : Text, uses : List Text, message : Text, hint : Text, severity : Text }
      , default = { uses = [] : List Text, hint = "", severity = "error" }
      }

-- A SQL file over the tables it `uses`, yielding just the declared columns, unique by `key`.
let Relation =
      { Type =
          { name : Text
          , sql : Text
          , uses : List Text
          , columns : List Column
          , key : List Text
          , checks : List Check.Type
          , doc : Text
          }
      , default = { checks = [] : List Check.Type, doc = "" }
      }

-- A column of the grain that equals a field (or column) of the bound table.
let Pair = { column : Text, field : Text }

-- A point in time of a grain's row.
--   pick    first, last (of the rows of `of` that agree on the pairs `on`), `latest before` (the last row of `of` in
--           log order ahead of the instant `before`) or computed (`value`)
--   where   narrows the bound rows
--   fields  fields of the picked row that the grain takes along
let Instant =
      { Type =
          { name : Text
          , grain : Text
          , pick : Text
          , of : Text
          , on : List Pair
          , before : Text
          , where : Expression
          , value : Expression
          , fields : List Text
          , doc : Text
          }
      , default =
        { of = ""
        , on = [] : List Pair
        , before = ""
        , where = X.nothing
        , value = X.nothing
        , fields = [] : List Text
        , doc = ""
        }
      }

-- A column that counts the rows of another table (event, relation or grain).
let Tally = { column : Column, of : Text, on : List Pair, where : Expression }

-- A column computed from the others.
let Derived = { column : Column, value : Expression }

-- A grain computed from another: the maximal runs of its accepted rows where `holds`, consecutive in `along`, for each `by`.
-- Its columns: those of `by`, `first`, `last` (of `along`), `length` (rows), `first_x` and `last_x` for x in `carry`.
let Runs = { of : Text, holds : Expression, by : List Text, along : Text, carry : List Text }

-- The coarser grain whose filters decide on this one's rows.
let Subject = { grain : Text, on : List Pair }

-- What one sample is about: a relation (or runs of another grain) plus instants, tallies and derived columns.
--   at      the instant (a member of it) by which phases cut its rows
--   time    the column or instant whose order is that of the run: a slot, a height, an instant; without it, metrics are
--           not judged
--   cluster   the column that names the host, or what else groups the rows
--   dimensions   columns by whose values tables and queries may split its metrics: text, boolean or integer
let Grain =
      { Type =
          { name : Text
          , relation : Text
          , runs : Optional Runs
          , key : List Text
          , columns : List Column
          , instants : List Instant.Type
          , tallies : List Tally
          , derived : List Derived
          , subject : Optional Subject
          , checks : List Check.Type
          , at : Text
          , time : Text
          , cluster : Text
          , dimensions : List Text
          , doc : Text
          }
      , default =
        { checks = [] : List Check.Type
        , at = ""
        , time = ""
        , cluster = ""
        , dimensions = [] : List Text
        , relation = ""
        , runs = None Runs
        , instants = [] : List Instant.Type
        , tallies = [] : List Tally
        , derived = [] : List Derived
        , subject = None Subject
        , doc = ""
        }
      }

-- Records of an event, those where a condition holds.
let Sampled = { event : Text, where : Expression }

-- What ends a line: rows of an event that agree with it on label fields, where a condition holds.
let Gone = { event : Text, on : List Text, where : Expression }

-- An input of a computed series, called `name` in its value. `over` is the reduction of its lines that agree in the
-- labels: mean, sum, least, greatest; empty if both series have the same labels.
let Term = { name : Text, series : Text, over : Text }

-- A table of values over time: a row for each window, step of it, and line that has a value then.
--   samples   its samples; of several, the first with a value at a step counts
--   by        label fields: each of their values is a line
--   windows   a relation with the instants `from_ns` and `to_ns`, which are the first and at most the last step
--   every     ns from step to step
--   reading   latest (the last sample of the last `window` ns) or rate (the increase of a counter, a second, over them);
--             count, sum, mean, least, greatest: of the records from each step to the next
--   gone      what ends a line until its next sample
--   ceases    a line also ends where its rows of the event of `gone` end while other rows continue
--   covered   of a rate: only the steps whose windows have samples near both of their ends; of intervals: whole ones (so are
--             those of a count or sum in a unit per second)
--   terms     instead of samples: other series, in the same windows and steps, from which `value` is computed
--   value     what a record contributes (if nothing is named, its field `value`); with terms, the value computed from them
--   window    a constant of the run, a duration, instead of `windowNs`; `every` likewise instead of `everyNs`
let Series =
      { Type =
          { name : Text
          , samples : List Sampled
          , by : List Text
          , windows : Text
          , everyNs : Natural
          , reading : Text
          , windowNs : Natural
          , gone : Optional Gone
          , ceases : Bool
          , covered : Bool
          , terms : List Term
          , value : Expression
          , window : Text
          , every : Text
          , unit : U.Unit
          , doc : Text
          }
      , default =
        { samples = [] : List Sampled
        , by = [] : List Text
        , everyNs = 1000000000
        , reading = ""
        , windowNs = 0
        , gone = None Gone
        , ceases = False
        , covered = False
        , terms = [] : List Term
        , value = X.nothing
        , window = ""
        , every = ""
        , doc = ""
        }
      }

let fieldNames =
      \(fs : List E.Field) ->
        List/fold E.Field fs (List Text) (\(f : E.Field) -> \(rest : List Text) -> [ f.name ] # rest) ([] : List Text)

let column = \(type : Text) -> \(name : Text) -> \(unit : U.Unit) -> \(doc : Text) -> { name, type, unit, doc } : Column

let columnOf = \(f : E.Field) -> column f.type f.name f.unit f.doc

-- A grain with a row for each record of an event, and the relation that provides its rows. The columns are the host, the
-- position `seq` in its log, the fields, and the instant `at` of the record.
let eachRecord =
      \(r : { name : Text, event : E.Event, fields : List E.Field, doc : Text }) ->
        let host = column "text" "host" U.none "Host"

        let seq = column "integer" "seq" U.none "Position in the log of the host"

        let columns =
                [ host, seq ]
              # List/fold
                  E.Field
                  r.fields
                  (List Column)
                  (\(f : E.Field) -> \(rest : List Column) -> [ columnOf f ] # rest)
                  ([] : List Column)

        let names =
              List/fold E.Field r.fields Text (\(f : E.Field) -> \(rest : Text) -> ", ${f.name}${rest}") ""

        let relation =
              Relation::{
              , name = "${r.name}_records"
              , sql = "SELECT host, seq${names} FROM ${r.event.name}"
              , uses = [ r.event.name ]
              , columns
              , key = [ host.name, seq.name ]
              , doc = r.doc
              }

        let at =
              Instant::{
              , name = "at"
              , grain = r.name
              , pick = "first"
              , of = r.event.name
              , on = [ { column = host.name, field = host.name }, { column = seq.name, field = seq.name } ]
              , doc = r.event.doc
              }

        let grain =
              Grain::{
              , name = r.name
              , relation = relation.name
              , key = relation.key
              , columns
              , instants = [ at ]
              , at = at.name
              , time = at.name
              , doc = r.doc
              }

        in  { relation, grain, at, host, seq }

let termOf = \(over : Text) -> \(name : Text) -> \(s : Series.Type) -> { name, series = s.name, over } : Term

let instant = \(i : Instant.Type) -> X.leaf "instant" i.name

let instants =
      \(is : List Instant.Type) ->
        List/fold
          Instant.Type
          is
          (List Expression)
          (\(i : Instant.Type) -> \(rest : List Expression) -> [ instant i ] # rest)
          ([] : List Expression)

in  { Check
    , Relation
    , Pair
    , Instant
    , Tally
    , Derived
    , Sampled
    , Gone
    , Term
    , Series
    , fieldNames
      -- an input of a computed series: unchanged, or with lines that agree in the labels reduced to one
    , term = termOf ""
    , meanOf = termOf "mean"
    , sumOf = termOf "sum"
    , leastOf = termOf "least"
    , greatestOf = termOf "greatest"
      -- the value of a term
    , termValue = \(t : Term) -> X.leaf "column" t.name
      -- samples of an event
    , samples = \(e : E.Event) -> [ { event = e.name, where = X.nothing } ] : List Sampled
    , samplesWhere = \(e : E.Event) -> \(where : Expression) -> [ { event = e.name, where } ] : List Sampled
      -- windows: one, from the first to the last record of the sources of these events
    , wholeRun =
        \(name : Text) ->
        \(events : List E.Event) ->
            Relation::{
            , name
            , sql = "SELECT min(first_ns) AS from_ns, max(last_ns) AS to_ns FROM logs"
            , uses =
                  [ "logs" ]
                # List/fold
                    E.Event
                    events
                    (List Text)
                    (\(e : E.Event) -> \(rest : List Text) -> [ e.name ] # rest)
                    ([] : List Text)
            , columns =
              [ { name = "from_ns", type = "instant", unit = U.nanosecond, doc = "First record of the run" }
              , { name = "to_ns", type = "instant", unit = U.nanosecond, doc = "Last record of the run" }
              ]
            , key = [] : List Text
            , doc = "The time of the run, from its first to its last record"
            }
    , Runs
    , Subject
    , Grain
      -- columns of a relation or grain
    , column
      -- the column with the values of a field
    , columnOf
    , eachRecord
      -- a column of the grain equals a field, or a column, of the bound table
    , same = \(c : Column) -> \(f : E.Field) -> { column = c.name, field = f.name } : Pair
    , sameColumn = \(c : Column) -> \(d : Column) -> { column = c.name, field = d.name } : Pair
      -- a field of the bound row, in an instant's `where`
    , field = \(f : E.Field) -> X.leaf "field" f.name
    , fieldColumn = \(c : Column) -> X.leaf "field" c.name
      -- the instant of a bound row itself
    , rowInstant = X.leaf "field" "t_ns"
      -- an instant of the grain, as a point in time
    , instant
      -- a field that an instant takes along
    , taken = \(i : Instant.Type) -> \(f : E.Field) -> [ X.token // { op = "taken", text = i.name, name = f.name } ] : Expression
      -- time from the first of `from` that there is, to `to`
    , elapsed =
        \(m : { from : List Instant.Type, to : Instant.Type }) ->
          instant m.to # X.many "coalesce" (instants m.from) # [ X.token // { op = "minus" } ] : Expression
    }
