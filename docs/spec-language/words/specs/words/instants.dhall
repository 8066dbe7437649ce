-- Words of `G` and `M` about rows with several records, and of `E` about events: each block names the words that it shows,
-- and the metrics whose samples follow from it.
let S = ../schema/package.dhall

let X = S.x

let E = S.event

let G = S.grain

let M = S.metric

let U = S.unit

let source = ./source.dhall

let field = { request = E.text "request", bytes = E.inUnit U.byte (E.integer "bytes"), kind = E.text "kind" }

let result = E.text "result"

-- E.event => times_of_requests
let received =
      E.event { name = "received", source = source.log.name, names = [ "received" ], fields = [ field.request ], doc = "A request" }

-- E.eventOf => bytes_of_pages
let sent = E.eventOf source.log "sent" "sent" [ field.request, field.bytes, field.kind ] "A response"

-- E.is, E.has => good_results
let checked =
        { name = "checked"
        , source = source.log.name
        , forms =
          [ { names = [ { generation = "", name = "checked" } ]
            , unless = [ E.is [ "result" ] "bad", E.has [ "skipped" ] ]
            , fields = [ result ]
            }
          ]
        , doc = "A good result that was not skipped"
        }
      : S.Event

-- E.time => time_to_end
let ended =
      E.event { name = "ended", source = source.log.name, names = [ "ended" ], fields = [ E.time [ "ended" ] ], doc = "The end" }

-- G.eachRecord => times_of_requests, bytes_of_pages
let requests = G.eachRecord { name = "requests", event = received, fields = [ field.request ], doc = "A request" }

-- G.eachRecordOf => times_of_exchanges
let exchanges =
      G.eachRecordOf { name = "exchanges", events = [ received, sent ], fields = [ field.request ], doc = "A request or a response" }

-- G.eachKey => time_to_response, bytes_of_responses
let answers = G.eachKey { name = "answer", key = field.request, events = [ received, sent ], doc = "A request and its response" }

-- G.acrossHosts => time_across_hosts
let spread =
      G.acrossHosts { name = "spread", key = field.request, from = received, event = sent, doc = "A response, on each host" }

let bucket = { value = E.real "value", le = E.at [ "labels", "le" ] (E.text "le") }

let buckets =
      E.event
        { name = "wait_buckets"
        , source = source.samples.name
        , names = [ "wait_seconds_bucket" ]
        , fields = [ bucket.value, bucket.le ]
        , doc = "Buckets of waiting times"
        }

-- G.histogram => waiting_time_p75
let waits =
      G.histogram
        { name = "waits"
        , buckets
        , le = bucket.le
        , by = [] : List S.Field
        , everyNs = 20000000000
        , unit = U.second
        , doc = "A bucket in a step of 20 s"
        }

-- G.exponential => waiting_time_of_powers
let powers = G.exponential waits

-- G.same, G.columnOf, G.fieldNames => times_of_requests, bytes_of_pages
let response =
      S.Instant::{
      , name = "sent"
      , grain = requests.grain.name
      , pick = "first"
      , of = sent.name
      , on = [ G.same (G.columnOf field.request) field.request ]
      , fields = G.fieldNames [ field.bytes ]
      , doc = "The response"
      }

-- G.field => bytes_of_pages
let page = response // { name = "page", where = X.equals (G.field field.kind) (X.text "page") }

let limit = X.plus (S.source.constant source.constant.start) (X.quantity 62.0 U.second)

-- G.rowInstant => late_responses
let late = response // { name = "late", where = X.atLeast G.rowInstant limit }

-- G.sameColumn => time_since_request_before
let previous =
      S.Instant::{
      , name = "previous"
      , grain = requests.grain.name
      , pick = "latest before"
      , before = requests.at.name
      , of = received.name
      , on = [ G.sameColumn requests.host requests.host ]
      , doc = "The request before, of whatever key"
      }

let largeRows = G.column "integer" "large_rows" U.count "Rows whose `b` is 2 or more"

-- G.fieldColumn => large_rows
let tally =
      { column = largeRows
      , of = source.rows.grain.name
      , on = [ G.sameColumn requests.host source.rows.host ]
      , where = X.atLeast (G.fieldColumn (G.columnOf source.field.b)) (X.natural 2)
      }

-- G.column => slots
let slot = G.column "integer" "slot" U.none "Number of the slot in which the request came in"

let derived =
      [ { column = slot
        , value =
            X.div
              (X.minus (G.instant requests.at) (S.source.constant source.constant.start))
              (S.source.constant source.constant.slot)
        }
      ]

-- G.records => good_results
let checks = G.records "checks" checked "A check"

let ends = G.eachRecord { name = "ends", event = ended, fields = [] : List S.Field, doc = "The end of the log" }

let metric =
      \(id : Text) ->
      \(grain : S.Grain.Type) ->
      \(measure : S.Expression) ->
      \(unit : S.Unit) ->
        S.Metric::{ id, name = id, grain = grain.name, measure, unit, doc = id }

-- S.metricOf => time_to_response
let ofAnswer = S.metricOf answers.grain

let timeToResponse =
      ofAnswer::{
      , id = "time_to_response"
      , name = "Time to the response"
      , measure = answers.between received sent
      , unit = U.millisecond
      }

-- M.metricOf => bytes_of_responses
let ofBytes = (M.metricOf answers.grain) with default.unit = U.byte

let bytesOfResponses =
      ofBytes::{ id = "bytes_of_responses", name = "Bytes", measure = answers.taken sent field.bytes }

-- S.elapsed => times_of_requests
let times = metric "times_of_requests" requests.grain (S.elapsed { from = [ requests.at ], to = response }) U.millisecond

let across = metric "time_across_hosts" spread.grain spread.delay U.millisecond // { reduction = M.greatest [ spread.key ] }

let sinceStart =
          metric
            "times_of_exchanges"
            exchanges.grain
            (X.minus (G.instant exchanges.at) (S.source.constant source.constant.start))
            U.second
      //  { where = X.matches (X.column exchanges.event) "received|sent" }

-- G.elapsed, G.instant => time_since_request_before
let since =
          metric "time_since_request_before" requests.grain (G.elapsed { from = [ previous ], to = requests.at }) U.second
      //  { where = X.present (G.instant previous) }

-- G.taken => bytes_of_pages
let bytes = metric "bytes_of_pages" requests.grain (G.taken page field.bytes) U.byte

let lateBytes = metric "late_responses" requests.grain (G.taken late field.bytes) U.byte

let large = metric "large_rows" requests.grain (X.column largeRows) U.count

-- G.roles => requests_of_servers
let role = G.roles requests.host [ { role = "client", hosts = "client-.*" }, { role = "server", hosts = ".*" } ]

let ofServers =
      metric "requests_of_servers" requests.grain (X.oneIf (X.equals (X.column role.column) (X.text "server"))) U.count

let slots = metric "slots" requests.grain (X.column slot) U.none

-- M.higher => good_results
let good = M.higher checks.grain U.count "good_results" "Good results" (X.natural 1)

-- M.lower => time_to_end
let timeToEnd =
      M.lower
        ends.grain
        U.second
        "time_to_end"
        "Time to the end"
        (X.minus (G.instant ends.at) (S.source.constant source.constant.start))

-- The values of `b` in each group of `ok`: 2 and 3, and 0.
let ofGroups =
      \(id : Text) ->
      \(unit : S.Unit) ->
      \(reduction : Optional M.Reduction) ->
        metric id source.rows.grain (G.valueOf source.field.b) unit // { reduction }

let groups = [ G.columnOf source.field.ok ]

-- M.least => least_of_groups
let least = ofGroups "least_of_groups" U.none (M.least groups)

-- M.greatest => greatest_of_groups
let greatest = ofGroups "greatest_of_groups" U.none (M.greatest groups)

-- M.sum => sum_of_groups
let sum = ofGroups "sum_of_groups" U.none (M.sum groups)

-- M.number => number_of_groups
let number = ofGroups "number_of_groups" U.count (M.number groups)

-- M.centile => centile_of_groups
let centile = ofGroups "centile_of_groups" U.none (M.centile 0.5 groups)

let waitingTimeOfPowers =
      S.Metric::(     M.histogramCentile 0.75 powers [ waits.at ]
                  /\  { id = "waiting_time_of_powers", name = "Waiting time (p75, powers)", better = "lower" }
                )

-- M.histogramCentile => waiting_time_p75
let waitingTime =
      S.Metric::(     M.histogramCentile 0.75 waits [ waits.at ]
                  /\  { id = "waiting_time_p75", name = "Waiting time (p75)", better = "lower" }
                )

-- M.columnNames => greatest_of_names
let namesOf =
          ofGroups "greatest_of_names" U.none (None M.Reduction)
      //  { reduction = Some { by = M.columnNames [ G.columnOf source.field.name ], kind = "max", centile = 0.0, counts = "" } }

-- S.metrics => times_of_requests
let metrics =
      S.metrics
        ( toMap
            { times
            , since
            , across
            , sinceStart
            , bytes
            , lateBytes
            , large
            , slots
            , ofServers
            , good
            , timeToEnd
            , least
            , greatest
            , sum
            , number
            , centile
            , waitingTime
            , waitingTimeOfPowers
            , namesOf
            , timeToResponse
            , bytesOfResponses
            }
        )

let expect =
      [ { metric = times, samples = [ "250", "500" ] }
      , { metric = since, samples = [ "1" ] }
      , { metric = across, samples = [ "250", "500" ] }
      , { metric = sinceStart, samples = [ "61", "61.5", "62", "62.25" ] }
      , { metric = bytes, samples = [ "512" ] }
      , { metric = lateBytes, samples = [ "2048" ] }
      , { metric = large, samples = [ "2", "2" ] }
      , { metric = slots, samples = [ "3", "3" ] }
      , { metric = ofServers, samples = [ "1", "1" ] }
      , { metric = good, samples = [ "1" ] }
      , { metric = timeToEnd, samples = [ "90" ] }
      , { metric = least, samples = [ "0", "2" ] }
      , { metric = greatest, samples = [ "0", "3" ] }
      , { metric = sum, samples = [ "0", "5" ] }
      , { metric = number, samples = [ "1", "2" ] }
      , { metric = centile, samples = [ "0", "3" ] }
      , { metric = waitingTime, samples = [ "0.5", "0.625" ] }
      , { metric = waitingTimeOfPowers, samples = [ "0.4330127018922193", "0.5698767642386944" ] }
      , { metric = namesOf, samples = [ "0", "2", "3" ] }
      , { metric = timeToResponse, samples = [ "250", "500" ] }
      , { metric = bytesOfResponses, samples = [ "512", "2048" ] }
      ]

in  { received
    , times
    , sent
    , events = [ received, sent, checked, ended, buckets ]
    , series = [ waits.series ]
    , grains =
      [ requests.grain // { instants = [ requests.at, response, page, late, previous ], tallies = [ tally ], derived = derived # [ role ] }, checks.grain, ends.grain, exchanges.grain, answers.grain, spread.grain, waits.grain ]
    , relations = [ requests.relation, checks.relation, ends.relation, exchanges.relation, answers.relation, spread.relation, waits.relation ]
    , metrics
    , expect
    }
