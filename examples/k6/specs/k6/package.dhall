-- Results of k6: k6 run --out json=results.json script.js
let S = ../schema/package.dhall

let E = S.event

let G = S.grain

let R = S.report

let U = S.unit

let X = S.x

let constantOf =
      \(name : Text) ->
      \(doc : Text) ->
        S.Constant::{ name, files = [ "meta.json" ], path = [ name ], type = "text", doc }

let constant =
      { version = constantOf "version" "Version of the service", script = constantOf "script" "Load script" }

-- A line is the definition of a metric, or a point: its body is `data`, its name the metric.
let log =
      S.Source::{
      , name = "log"
      , hosts = ""
      , logs = [ "results.json" ]
      , time = [ "data", "time" ]
      , body = [ "data" ]
      , lookups = [ S.source.nameAt [ "metric" ] ]
      , constants = [ constant.version, constant.script ]
      , ignored = [ "http_reqs", "checks", "iteration_duration", "vus" ]
      , doc = "Points of k6"
      }

let field =
      { time = E.inUnit U.millisecond (E.at [ "value" ] (E.real "duration"))
      , failed = E.at [ "value" ] (E.integer "failed")
      , url = E.at [ "tags", "name" ] (E.text "url")
      , status = E.at [ "tags", "status" ] (E.integer "status")
      }

-- The definition of a metric has the same name as its points. Only definitions have `contains` in their body.
let event =
      \(name : Text) ->
      \(fields : List S.Field) ->
      \(doc : Text) ->
          { name
          , source = log.name
          , forms = [ { names = [ { generation = "", name } ], unless = [ E.has [ "contains" ] ], fields } ]
          , doc
          }
        : S.Event

let durationFields = [ field.time, field.url, field.status ]

let failedFields = [ field.failed, field.url ]

let e =
      { duration = event "http_req_duration" durationFields "A response was sent"
      , failed = event "http_req_failed" failedFields "Whether the request failed"
      }

let requests = G.eachRecord { name = "requests", event = e.duration, fields = durationFields, doc = "A request" }

let outcomes = G.eachRecord { name = "outcomes", event = e.failed, fields = failedFields, doc = "A request that failed or not" }

let column = \(f : S.Field) -> X.column (G.columnOf f)

let requestTo =
      \(page : Text) ->
        S.Metric::{
        , id = "duration_${page}"
        , name = page
        , grain = requests.grain.name
        , measure = column field.time
        , where = X.all [ X.matches (column field.url) "https://[^/]*/${page}", X.below (column field.status) (X.natural 500) ]
        , unit = U.millisecond
        , better = "lower"
        , doc = "Time from sending the request to ${page} to the end of the response; failed requests do not count"
        }

let m =
      { login = requestTo "login"
      , cart = requestTo "cart"
      , failed =
          S.Metric::{
          , id = "failed_share"
          , name = "Failed requests"
          , grain = outcomes.grain.name
          , measure = column field.failed
          , unit = U.percent
          , better = "lower"
          , doc = "Share of failed requests: 1 for a failed request, else 0"
          }
      }

let all = [ m.login, m.cart, m.failed ]

let Q = S.example

let point =
      \(metric : Text) ->
      \(value : Text) ->
      \(status : Text) ->
        "{\"metric\":\"${metric}\",\"type\":\"Point\",\"data\":{\"time\":\"2026-03-02T09:00:00.5+01:00\",\"value\":${value},\"tags\":{\"name\":\"https://shop.test/login\",\"status\":\"${status}\"}}}"

in  S.Package::{
    , system = "k6"
    , sources = [ log ]
    , events = [ e.duration, e.failed ]
    , relations = [ requests.relation, outcomes.relation ]
    , grains = [ requests.grain, outcomes.grain ]
    , metrics = S.metrics (toMap m)
    , summaries = [ S.Summary::{ name = "all", doc = "All samples count alike" } ]
    , reports =
      [ S.Report::{
        , name = "comparison"
        , title = "{others} against {base}"
        , intro = "Each version under the load of {constant.script}."
        , manifest = [ R.fact "Version" constant.version (R.text 0), R.fact "Script" constant.script (R.text 0) ]
        , sections = [ R.section "Requests" all // { columns = [ "median", "p90", "p95", "p99" ] } ]
        , charts = [ R.cdf m.login, R.cdf m.cart ]
        , dictionary = [ R.group "Requests" all ]
        , style = "prefixed"
        , summary = "all"
        , label = constant.version.name
        , compare = [ constant.script.name ]
        }
      ]
    , examples =
      [ S.Example::{
        , name = "a request that is answered, and one that fails"
        , files =
          [ Q.file "meta.json" "{\"version\": \"a\", \"script\": \"shop.js\"}"
          , Q.file
              "results.json"
              ( Q.lines
                  [ "{\"type\":\"Metric\",\"data\":{\"name\":\"http_req_duration\",\"type\":\"trend\",\"contains\":\"time\"},\"metric\":\"http_req_duration\"}"
                  , point "http_req_duration" "92.5" "200"
                  , point "http_req_failed" "0" "200"
                  , point "http_req_duration" "3.25" "503"
                  , point "http_req_failed" "1" "503"
                  ]
              )
          ]
        , expect = [ Q.samples m.login [ "92.5" ], Q.none m.cart, Q.samples m.failed [ "0", "100" ] ]
        }
      ]
    }
