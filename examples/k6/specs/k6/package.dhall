-- Results of k6: k6 run --out json=results.json script.js
let S = ../schema/package.dhall

let E = S.event

let G = S.grain

let Q = S.example

let R = S.report

let U = S.unit

let X = S.x

let constantOf = \(name : Text) -> S.Constant::{ name, files = [ "meta.json" ], path = [ name ] }

let constant = { version = constantOf "version", script = constantOf "script" }

-- A line is the definition of a metric, or a point: its body is `data`, its name the metric.
let log =
      S.Source::{
      , name = "log"
      , logs = [ "results.json" ]
      , time = [ "data", "time" ]
      , body = [ "data" ]
      , lookups = [ S.source.nameAt [ "metric" ] ]
      , constants = [ constant.version, constant.script ]
      , ignored = [ "http_reqs", "checks", "iteration_duration", "vus" ]
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
        let points = S.Form::{ names = [ { generation = "", name } ], unless = [ E.has [ "contains" ] ], fields }

        in  { name, source = log.name, forms = [ points ], doc }

let e =
      { duration = event "http_req_duration" [ field.time, field.url, field.status ] "A response was sent"
      , failed = event "http_req_failed" [ field.failed, field.url ] "Whether the request failed"
      }

let requests = G.records "requests" e.duration "A request"

let outcomes = G.records "outcomes" e.failed "A request that failed or not"

let answered = X.below (G.valueOf field.status) (X.natural 500)

let requestTo =
      \(page : Text) ->
            S.metric.lower requests.grain U.millisecond "duration_${page}" page (G.valueOf field.time)
        //  { where = X.all [ X.matches (G.valueOf field.url) "https://[^/]*/${page}", answered ]
            , doc = "Time from sending the request to ${page} to the end of the response; failed requests do not count"
            }

let m =
      { login = requestTo "login"
      , cart = requestTo "cart"
      , failed =
              S.metric.lower outcomes.grain U.percent "failed_share" "Failed requests" (G.valueOf field.failed)
          //  { doc = "Share of failed requests: 1 for a failed request, else 0" }
      }

in  S.Package::{
    , system = "k6"
    , sources = [ log ]
    , events = [ e.duration, e.failed ]
    , relations = [ requests.relation, outcomes.relation ]
    , grains = [ requests.grain, outcomes.grain ]
    , metrics = S.metrics (toMap m)
    , reports =
      [     R.comparison
              [ R.section "Requests" [ m.login, m.cart, m.failed ] // { columns = [ "median", "p90", "p95", "p99" ] } ]
        //  { intro = "Each version under the load of {constant.script}."
            , label = constant.version.name
            , manifest = [ R.fact "Version" constant.version (R.text 0), R.fact "Script" constant.script (R.text 0) ]
            , charts = [ R.cdf m.login, R.cdf m.cart ]
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
              ''
              {"type":"Metric","data":{"name":"http_req_duration","type":"trend","contains":"time"},"metric":"http_req_duration"}
              {"metric":"http_req_duration","type":"Point","data":{"time":"2026-03-02T09:00:00.5+01:00","value":92.5,"tags":{"name":"https://shop.test/login","status":"200"}}}
              {"metric":"http_req_failed","type":"Point","data":{"time":"2026-03-02T09:00:00.5+01:00","value":0,"tags":{"name":"https://shop.test/login","status":"200"}}}
              {"metric":"http_req_duration","type":"Point","data":{"time":"2026-03-02T09:00:00.5+01:00","value":3.25,"tags":{"name":"https://shop.test/login","status":"503"}}}
              {"metric":"http_req_failed","type":"Point","data":{"time":"2026-03-02T09:00:00.5+01:00","value":1,"tags":{"name":"https://shop.test/login","status":"503"}}}
              ''
          ]
        , expect = [ Q.samples m.login [ "92.5" ], Q.none m.cart, Q.samples m.failed [ "0", "100" ] ]
        }
      ]
    }
