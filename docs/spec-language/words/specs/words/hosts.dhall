-- Words of `S` about coverage: each block names the findings on the run `hosts` that a report prints. Its hosts are `web-1`
-- and `web-2`.
let S = ../schema/package.dhall

let X = S.x

let E = S.event

let G = S.grain

let R = S.report

let U = S.unit

let base = ./source.dhall

let source =
      S.Source::{
      , name = "hosts"
      , hosts = "web-*"
      , logs = [ "log.jsonl" ]
      , time = [ "ts" ]
      , body = [ "data" ]
      , lookups = [ S.source.nameAt [ "event" ] ]
      }

let session = E.text "session"

let files = E.integer "files"

let recordName = E.at [ "event" ] (E.text "record_name")

let recordNumber = E.at [ "number" ] (E.integer "record_number")

let event =
      \(name : Text) ->
      \(fields : List S.Field) ->
        E.event { name, source = source.name, names = [ name ], fields, doc = "Record `${name}` of a host" }

let opened = event "opened" [ session ]

let answered = event "answered" [ session ]

let closed = event "closed" [ session ]

let cleaned = event "cleaned" [ files ]

let flushed = event "flushed" [ files ]

let limited = event "limited" [ recordName, recordNumber ]

let sessions = G.eachRecord { name = "sessions", event = opened, fields = [ session ], doc = "A session" }

let instant =
      \(of : S.Event) ->
        S.Instant::{
        , name = of.name
        , grain = sessions.grain.name
        , pick = "first"
        , of = of.name
        , on = [ G.same (G.columnOf session) session ]
        , doc = of.doc
        }

let at = { answered = instant answered, closed = instant closed }

let cleanups = G.eachRecord { name = "cleanups", event = cleaned, fields = [ files ], doc = "A cleanup" }

let flushes = G.eachRecord { name = "flushes", event = flushed, fields = [ files ], doc = "A flush" }

let testbed =
      S.Source::{
      , name = "testbed"
      , kind = "json-records"
      , logs = [ "meta.json" ]
      , time = [] : List Text
      , body = [ "nodes" ]
      }

let node = { name = E.text "name", role = E.text "role" }

let nodes =
      { name = "nodes", source = testbed.name, forms = [ S.Form::{ fields = [ node.name, node.role ] } ], doc = "A node" } : S.Event

-- G.describeHosts => hosts: | [Time to closed: back
let describe = G.describeHosts { event = nodes, name = node.name, fields = [ node.role ] }

let metric =
      \(id : Text) ->
      \(name : Text) ->
      \(grain : S.Grain.Type) ->
      \(measure : S.Expression) ->
      \(unit : S.Unit) ->
        S.Metric::{ id, name, grain = grain.name, measure, unit, doc = name }

let timeTo =
      \(to : S.Instant.Type) ->
        metric "time_to_${to.name}" "Time to ${to.name}" sessions.grain (S.elapsed { from = [ sessions.at ], to }) U.second

let metrics =
      [ timeTo at.answered
      , timeTo at.closed
      , metric "cleaned_files" "Cleaned files" cleanups.grain (X.column (G.columnOf files)) U.none
      , metric "flushed_files" "Flushed files" flushes.grain (X.column (G.columnOf files)) U.none
      ]

let coverage =
      [ -- S.onSomeHosts => hosts: - hosts: host
        -- web-2 has no record `cleaned`, as declared. That it has none of `flushed` is a finding.
        S.onSomeHosts cleaned
        -- S.onSomeRows => hosts: - hosts: 4 of 8
        -- Half of the sessions have no `closed`, as declared. That half have no `answered` is a finding.
      , S.onSomeRows at.closed
        -- S.dropNotice => hosts: - hosts: the log
      , S.dropNotice limited recordName // { count = recordNumber.name }
      ]

let report =
      S.Report::{
      , name = "hosts"
      , title = "Hosts"
      , intro = "What words change in the data quality of hosts."
      , manifest = [ R.fact "Version" base.constant.version (R.text 0) ]
      , sections =
        [ R.section "Metrics" metrics, R.splitBy [ G.columnOf node.role ] (R.section "Roles" [ timeTo at.closed ]) ]
      , charts = [] : List R.Chart
      , dictionary = [ R.group "Metrics" metrics ]
      , style = "prefixed"
      , summary = "all"
      , label = base.constant.version.name
      }

in  { sources = [ source, testbed ]
    , events = [ nodes, opened, answered, closed, cleaned, flushed, limited ]
    , relations = [ sessions.relation, cleanups.relation, flushes.relation ]
    , grains =
      [ describe (sessions.grain // { instants = [ sessions.at, at.answered, at.closed ] }), cleanups.grain, flushes.grain ]
    , metrics
    , coverage
    , report
    }
