-- Relations (SQL over events), and grains: what the rows of a table represent.
let U = ./units.dhall

let X = ./expression.dhall

let E = ./event.dhall

let Column = X.Column

let Expression = X.Expression

-- Rows that must not exist: a query over the relation; `message` and `hint` have placeholders `{column}` for its
-- columns.
--   severity    error (the run cannot be analysed) or warning (printed in the report)
let Check =
      { Type = { code : Text, sql : Text, uses : List Text, message : Text, hint : Text, severity : Text }
      , default = { uses = [] : List Text, hint = "", severity = "error" }
      }

-- A SQL file over the tables that it `uses`. It yields exactly the declared columns, and its rows are unique by `key`.
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
--           log order before the instant `before`) or computed (`value`)
--   where   a condition on the bound rows
--   fields  fields of the picked row that become columns of the grain, for SQL: what `taken` names becomes one by itself
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
        { pick = "first"
        , of = ""
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

-- A grain computed from another: the maximal sequences of its accepted rows where `holds`, consecutive in `along`, per
-- `by`. Its columns: those of `by`, `first`, `last` (of `along`), `length` (rows), `first_x` and `last_x` for x in
-- `carry`.
let Runs = { of : Text, holds : Expression, by : List Text, along : Text, carry : List Text }

-- The coarser grain whose filters also decide on the rows of this one.
let Subject = { grain : Text, on : List Pair }

-- A grain: a relation (or sequences of rows of another grain) with instants, tallies and derived columns.
--   at      the instant (or an instant column) that decides the phase of a row
--   time    the column or instant that orders rows by the time of the run: a slot, a height, an instant; without it,
--           metrics are not judged
--   cluster   the column with the host, or another group of the rows
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

-- Records of an event that satisfy a condition.
let Sampled = { event : Text, where : Expression }

-- The end of a line: records of an event with the same label fields that satisfy a condition.
let Gone = { event : Text, on : List Text, where : Expression }

-- An input of a computed series, with the name `name` in its value. `over` is the reduction of lines with equal labels:
-- mean, sum, least, greatest; empty if both series have the same labels.
let Term = { name : Text, series : Text, over : Text }

-- A table of values over time: a row per window, step, and line with a value at that step.
--   samples   its samples; if there are several, the first with a value at a step counts
--   by        label fields: each combination of their values is a line
--   windows   a relation with the instants `from_ns` (the first step) and `to_ns` (no step is later)
--   every     ns from step to step
--   reading   latest (the last sample in the last `window` ns) or rate (the increase of a counter per second in that
--             window); count, sum, mean, least, greatest: over the records from each step to the next; increase: how much
--             counters grow from each step to the next, also across restarts
--   gone      the records that end a line until its next sample
--   ceases    a line also ends if its records of the event of `gone` stop while those of other lines continue
--   covered   for a rate: only steps whose windows have samples near both ends; for intervals: only complete ones (as
--             always for a count or sum in a unit per second)
--   terms     instead of samples: other series, in the same windows and steps, from which `value` is computed
--   value     the value of a record (default: its field `value`); with terms, the value computed from them
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

-- A grain with a row per record of an event, and the relation that provides its rows. The columns are the host, the
-- position `seq` in its log, the fields, and the instant `at` of the record.
--   first    an instant: that of the first record of another event on the host with the same values of fields
--   before   an instant: that of the latest record of an event on the host before this record, in the order of the log
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

        let sameHost = { column = host.name, field = host.name }

        let pairs =
              ../Prelude/List/map.dhall E.Field Pair (\(f : E.Field) -> { column = f.name, field = f.name })

        let first =
              \(name : Text) ->
              \(e : E.Event) ->
              \(fields : List E.Field) ->
                Instant::{ name, grain = r.name, of = e.name, on = [ sameHost ] # pairs fields, doc = e.doc }

        let before =
              \(name : Text) ->
              \(e : E.Event) ->
                Instant::{
                , name
                , grain = r.name
                , pick = "latest before"
                , before = at.name
                , of = e.name
                , on = [ sameHost ]
                , doc = e.doc
                }

        in  { relation, grain, at, host, seq, first, before }

-- The same with all fields of an event, those of its first form.
let records =
      \(name : Text) ->
      \(event : E.Event) ->
      \(doc : Text) ->
        let none = [] : List E.Field

        let fields = merge { None = none, Some = \(form : E.Form) -> form.fields } (List/head E.Form event.forms)

        in  eachRecord { name, event, fields, doc }

-- A grain with a row per record of several events, and the relation that provides its rows. The columns are the name of the
-- event, the host, the position `seq` in its log, the instant of the record, and the fields, which all of the events have.
let eachRecordOf =
      \(r : { name : Text, events : List E.Event, fields : List E.Field, doc : Text }) ->
        let event = column "text" "event" U.none "Event of the record"

        let host = column "text" "host" U.none "Host"

        let seq = column "integer" "seq" U.none "Position in the log of the host"

        let columns =
                [ event, host, seq, column "instant" "t_ns" U.nanosecond "Instant of the record" ]
              # List/fold
                  E.Field
                  r.fields
                  (List Column)
                  (\(f : E.Field) -> \(rest : List Column) -> [ columnOf f ] # rest)
                  ([] : List Column)

        let names =
              List/fold E.Field r.fields Text (\(f : E.Field) -> \(rest : Text) -> ", ${f.name}${rest}") ""

        let select =
              \(e : E.Event) ->
                "SELECT '${e.name}' AS event, host, seq, t_ns${names} FROM ${e.name}"

        let Joined = { sql : Text, text : Text }

        let joined =
              List/fold
                E.Event
                r.events
                Joined
                ( \(e : E.Event) ->
                  \(rest : Joined) ->
                    { sql = "${select e}${rest.text}${rest.sql}", text = " UNION ALL " }
                )
                { sql = "", text = "" }

        let relation =
              Relation::{
              , name = "${r.name}_records"
              , sql = joined.sql
              , uses =
                  List/fold
                    E.Event
                    r.events
                    (List Text)
                    (\(e : E.Event) -> \(rest : List Text) -> [ e.name ] # rest)
                    ([] : List Text)
              , columns
              , key = [ event.name, host.name, seq.name ]
              , doc = r.doc
              }

        let at =
              Instant::{
              , name = "at"
              , grain = r.name
              , pick = "first"
              , of = relation.name
              , on =
                [ { column = event.name, field = event.name }
                , { column = host.name, field = host.name }
                , { column = seq.name, field = seq.name }
                ]
              , doc = "Instant of the record"
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
              , dimensions = [ event.name ]
              , doc = r.doc
              }

        in  { relation, grain, at, event, host, seq }

let instant = \(i : Instant.Type) -> X.leaf "instant" i.name

let instants =
      \(is : List Instant.Type) ->
        List/fold
          Instant.Type
          is
          (List Expression)
          (\(i : Instant.Type) -> \(rest : List Expression) -> [ instant i ] # rest)
          ([] : List Expression)

let elapsed =
      \(m : { from : List Instant.Type, to : Instant.Type }) ->
        instant m.to # X.many "coalesce" (instants m.from) # [ X.token // { op = "minus" } ] : Expression

let taken =
      \(i : Instant.Type) -> \(f : E.Field) -> [ X.token // { op = "taken", text = i.name, name = f.name } ] : Expression

-- A grain whose rows have fields of the record about their host, such as its role in the list of nodes in `meta.json`.
-- They are dimensions. `name` is the field with the name of the host.
let describeHosts =
      \(r : { event : E.Event, name : E.Field, fields : List E.Field }) ->
      \(g : Grain.Type) ->
        let described =
              Instant::{
              , name = r.event.name
              , grain = g.name
              , pick = "first"
              , of = r.event.name
              , on = [ { column = "host", field = r.name.name } ]
              , fields = fieldNames r.fields
              , doc = r.event.doc
              }

        let derived =
              ../Prelude/List/map.dhall
                E.Field
                Derived
                (\(f : E.Field) -> { column = columnOf f, value = taken described f })
                r.fields

        in    g
            // { instants = g.instants # [ described ]
               , derived = g.derived # derived
               , dimensions = g.dimensions # fieldNames r.fields
               }
            : Grain.Type

-- A grain with a row per value of a key on a host, in any of several events, and the relation that provides its rows.
-- Each of the events has the key among its fields. The columns are the host and the key; each event has an instant, that
-- of its first record with the key, and `begin` is the first of these instants, in the order of the events.
--   at       the instant of an event
--   between  the time from an event to another
--   taken    a field of the first record of an event
let eachKey =
      \(r : { name : Text, key : E.Field, events : List E.Event, doc : Text }) ->
        let host = column "text" "host" U.none "Host"

        let key = column r.key.type r.key.name r.key.unit "Key `${r.key.name}`"

        let Joined = { sql : Text, text : Text }

        let joined =
              List/fold
                E.Event
                r.events
                Joined
                ( \(e : E.Event) ->
                  \(rest : Joined) ->
                    { sql = "SELECT host, ${key.name} FROM ${e.name} WHERE ${key.name} IS NOT NULL${rest.text}${rest.sql}"
                    , text = " UNION "
                    }
                )
                { sql = "", text = "" }

        let relation =
              Relation::{
              , name = "${r.name}_keys"
              , sql = joined.sql
              , uses =
                  List/fold
                    E.Event
                    r.events
                    (List Text)
                    (\(e : E.Event) -> \(rest : List Text) -> [ e.name ] # rest)
                    ([] : List Text)
              , columns = [ host, key ]
              , key = [ host.name, key.name ]
              , doc = r.doc
              }

        let at =
              \(e : E.Event) ->
                Instant::{
                , name = "at_${e.name}"
                , grain = r.name
                , pick = "first"
                , of = e.name
                , on = [ { column = host.name, field = host.name }, { column = key.name, field = key.name } ]
                , doc = e.doc
                }

        let each =
              List/fold
                E.Event
                r.events
                (List Instant.Type)
                (\(e : E.Event) -> \(rest : List Instant.Type) -> [ at e ] # rest)
                ([] : List Instant.Type)

        let begin =
              Instant::{
              , name = "begin"
              , grain = r.name
              , pick = "computed"
              , value = X.firstPresent (instants each)
              , doc = "The first event that the row has"
              }

        let grain =
              Grain::{
              , name = r.name
              , relation = relation.name
              , key = relation.key
              , columns = relation.columns
              , instants = each # [ begin ]
              , time = begin.name
              , cluster = host.name
              , doc = r.doc
              }

        in  { relation
            , grain
            , at
            , begin
            , host
            , key
            , between = \(from : E.Event) -> \(to : E.Event) -> elapsed { from = [ at from ], to = at to }
            , taken = \(e : E.Event) -> \(f : E.Field) -> taken (at e) f
            }

-- A grain with a row per value of a key on each host that has `event`, as a block that every node adopts.
--   first   the instant of the first record `from` with the key, on any host
--   delay   the time from there until the host has its first `event`
-- A reduction by the key is about all hosts: `M.greatest [ key ]` until the last one, `M.centile 0.8 [ key ]` until 80 %.
let acrossHosts =
      \(r : { name : Text, key : E.Field, from : E.Event, event : E.Event, doc : Text }) ->
        let rows = eachKey { name = r.name, key = r.key, events = [ r.event ], doc = r.doc }

        let first =
              Instant::{
              , name = "first_${r.from.name}"
              , grain = r.name
              , pick = "first"
              , of = r.from.name
              , on = [ { column = rows.key.name, field = r.key.name } ]
              , doc = "The first record `${r.from.name}` of any host"
              }

        in  { relation = rows.relation
            , grain = rows.grain // { instants = rows.grain.instants # [ first ] }
            , at = rows.at
            , first
            , host = rows.host
            , key = rows.key
            , delay = elapsed { from = [ first ], to = rows.at r.event }
            }

-- One window, from the first to the last record of the sources of these events.
let wholeRun =
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

-- A grain with a row per step, labels and bucket of a histogram of Prometheus, and what provides its rows.
--   le       the column with the upper bound of a bucket, a text
--   counts   the column with how many values up to this bound were added in the step
--   unit     the unit of the bounds
--   kind     histogram, or exponentialHistogram, whose percentiles are exponential in a bucket
let Histogram =
      { relation : Relation.Type
      , series : Series.Type
      , grain : Grain.Type
      , at : Column
      , le : Column
      , counts : Column
      , unit : U.Unit
      , kind : Text
      }

-- A histogram of Prometheus: `buckets` is the event of the series `..._bucket`, which has the fields `value` and `le`, `by`
-- are further labels, and `unit` is the unit of the bounds.
let histogram =
      \ ( r
        : { name : Text
          , buckets : E.Event
          , le : E.Field
          , by : List E.Field
          , everyNs : Natural
          , unit : U.Unit
          , doc : Text
          }
        ) ->
        let relation = wholeRun "${r.name}_time" [ r.buckets ]

        let series =
              Series::{
              , name = "${r.name}_buckets"
              , samples = [ { event = r.buckets.name, where = X.nothing } ]
              , by = fieldNames (r.by # [ r.le ])
              , windows = relation.name
              , everyNs = r.everyNs
              , reading = "increase"
              , value = X.asUnit U.none (X.leaf "field" "value")
              , unit = U.none
              , doc = r.doc
              }

        let at = column "instant" "t_ns" U.nanosecond "Start of the step"

        let counts = column "real" "value" U.none "Values up to the bound, in the step"

        let labels =
              List/fold
                E.Field
                (r.by # [ r.le ])
                (List Column)
                (\(f : E.Field) -> \(rest : List Column) -> [ columnOf f ] # rest)
                ([] : List Column)

        let grain =
              Grain::{
              , name = r.name
              , relation = series.name
              , key = fieldNames (r.by # [ r.le ]) # [ at.name ]
              , columns = labels # [ at, counts ]
              , at = at.name
              , time = at.name
              , dimensions = fieldNames r.by
              , doc = r.doc
              }

        in  { relation, series, grain, at, le = columnOf r.le, counts, unit = r.unit, kind = "histogram" } : Histogram

-- The same of a native histogram of Prometheus, or an exponential one of OpenTelemetry, whose buckets are powers.
let exponential = \(h : Histogram) -> h // { kind = "exponentialHistogram" }

let termOf = \(over : Text) -> \(name : Text) -> \(s : Series.Type) -> { name, series = s.name, over } : Term

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
      -- an input of a computed series: unchanged, or with lines of equal labels reduced to one
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
      -- one window, from the first to the last record of the sources of these events
    , wholeRun
    , Runs
    , Subject
    , Grain
      -- columns of a relation or grain
    , column
      -- the column with the values of a field
    , columnOf
      -- the column with the roles of hosts: that of the first pattern that the whole name of the host matches
    , roles =
        \(host : Column) ->
        \(roles : List { role : Text, hosts : Text }) ->
            { column = column "text" "role" U.none "Role of the host"
            , value =
                X.firstPresent
                  ( ../Prelude/List/map.dhall
                      { role : Text, hosts : Text }
                      Expression
                      ( \(r : { role : Text, hosts : Text }) ->
                          X.when (X.matches (X.column host) r.hosts) (X.text r.role)
                      )
                      roles
                  )
            }
          : Derived
    , describeHosts
      -- the value of the column of a field
    , valueOf = \(f : E.Field) -> X.column (columnOf f)
    , eachRecord
    , records
    , eachRecordOf
    , eachKey
    , acrossHosts
    , Histogram
    , histogram
    , exponential
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
      -- a field of the picked row of an instant
    , taken
      -- time from the first of `from` that is present, to `to`
    , elapsed
    }
