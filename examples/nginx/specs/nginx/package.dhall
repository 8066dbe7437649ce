-- The access log of nginx, in the format `combined` with two times at the end:
--   log_format timed '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" '
--                    '"$http_user_agent" $request_time $upstream_response_time';
let S = ../schema/package.dhall

let E = S.event

let G = S.grain

let R = S.report

let U = S.unit

let X = S.x

let version =
      S.Constant::{
      , name = "version"
      , files = [ "meta.json" ]
      , path = [ "version" ]
      , type = "text"
      , doc = "Name of the run in reports"
      }

-- Times are local: the pattern has the offset of this server, and `zone` is that offset.
let log =
      S.Source::{
      , name = "log"
      , kind = "text-lines"
      , hosts = ""
      , logs = [ "access.log" ]
      , line = "{client} - {} [{time} +0000] {request...}"
      , time = [ "time" ]
      , timeForm = "%d/%b/%Y:%H:%M:%S"
      , zone = "UTC"
      , body = [ "request" ]
      , lookups = [] : List S.source.Lookup
      , constants = [ version ]
      , doc = "Access log"
      }

let field =
      { method = E.text "method"
      , path = E.text "path"
      , status = E.integer "status"
      , sent = E.inUnit U.byte (E.integer "sent")
      , total = E.inUnit U.second (E.real "total")
      , upstream = E.inUnit U.second (E.optional (E.real "upstream"))
      }

let fields = [ field.method, field.path, field.status, field.sent, field.total ]

-- A response without upstream, such as a static file, ends in a dash.
let line = "\"{method} {path} {}\" {status} {sent} \"{...}\" \"{...}\" {total}"

let answered =
      { name = "answered"
      , source = log.name
      , forms =
        [ S.Form::{
          , names = [ { generation = "", name = "${line} -" } ]
          , fields = fields # [ E.never field.upstream ]
          }
        , S.Form::{
          , names = [ { generation = "", name = "${line} {upstream}" } ]
          , fields = fields # [ field.upstream ]
          }
        ]
      , doc = "A response was sent"
      }

let requests =
      G.eachRecord
        { name = "requests", event = answered, fields = fields # [ field.upstream ], doc = "A request, in the order of the log" }

let column = \(f : S.Field) -> X.column (G.columnOf f)

let isApi = X.matches (column field.path) "/api/.*"

let metric =
      \(m : { id : Text, name : Text, measure : S.Expression, where : S.Expression, unit : S.Unit, doc : Text }) ->
        S.Metric::(m /\ { grain = requests.grain.name, better = "lower" })

let m =
      { total =
          metric
            { id = "request_time"
            , name = "Request"
            , measure = column field.total
            , where = X.nothing
            , unit = U.second
            , doc = "Time from the first byte of the request to the last byte of the response (`$request_time`)"
            }
      , api =
          metric
            { id = "api_time"
            , name = "API request"
            , measure = column field.total
            , where = isApi
            , unit = U.second
            , doc = "Time of requests to paths below `/api/`"
            }
      , upstream =
          metric
            { id = "upstream_time"
            , name = "Upstream"
            , measure = column field.upstream
            , where = X.nothing
            , unit = U.second
            , doc = "Response time of the application behind nginx (`$upstream_response_time`)"
            }
      , own =
          metric
            { id = "own_time"
            , name = "nginx itself"
            , measure = X.minus (column field.total) (column field.upstream)
            , where = X.nothing
            , unit = U.second
            , doc = "Time of the request minus that of the application"
            }
      , failed =
          metric
            { id = "failed"
            , name = "Failed"
            , measure = X.natural 1
            , where = X.atLeast (column field.status) (X.natural 500)
            , unit = U.count
            , doc = "Requests with a status of 500 or more"
            }
      , sent =
          metric
            { id = "sent"
            , name = "Response"
            , measure = column field.sent
            , where = X.equals (column field.status) (X.natural 200)
            , unit = U.kibibyte
            , doc = "Size of a successful response, without its headers"
            }
      }

let times = [ m.total, m.api, m.upstream, m.own ]

let Q = S.example

let request =
      \(text : Text) -> "10.0.0.7 - - [02/Mar/2026:09:00:00 +0000] ${text}"

in  S.Package::{
    , system = "nginx"
    , sources = [ log ]
    , events = [ answered ]
    , relations = [ requests.relation ]
    , grains = [ requests.grain ]
    , metrics = S.metrics (toMap m)
    , summaries = [ S.Summary::{ name = "all", doc = "All samples count alike" } ]
    , reports =
      [ S.Report::{
        , name = "comparison"
        , title = "{others} against {base}"
        , intro = "Response times from the access logs."
        , manifest = [ R.fact "Version" version (R.text 0) ]
        , sections =
          [ R.section "Times" times // { columns = [ "median", "p95", "p99" ] }, R.section "Responses" [ m.sent ] ]
        , charts = [ R.cdf m.api, R.cdf m.upstream ]
        , dictionary = [ R.group "Requests" (times # [ m.sent ]) ]
        , style = "prefixed"
        , summary = "all"
        , label = version.name
        }
      ]
    , examples =
      [ S.Example::{
        , name = "a request with upstream, one without, and one that failed"
        , files =
          [ Q.file "meta.json" "{\"version\": \"a\"}"
          , Q.file
              "access.log"
              ( Q.lines
                  [ request "\"GET /api/items/7 HTTP/1.1\" 200 2048 \"-\" \"curl/8.5.0\" 0.025 0.020"
                  , request "\"GET /static/app.js HTTP/1.1\" 200 1024 \"-\" \"Mozilla/5.0 (X11; Linux x86_64)\" 0.001 -"
                  , request "\"POST /api/orders HTTP/1.1\" 502 0 \"-\" \"curl/8.5.0\" 0.101 0.100"
                  ]
              )
          ]
        , expect =
          [ Q.samples m.total [ "0.001", "0.025", "0.101" ]
          , Q.samples m.api [ "0.025", "0.101" ]
          , Q.samples m.upstream [ "0.02", "0.1" ]
          , Q.samples m.own [ "0.001", "0.005" ]
          , Q.samples m.failed [ "1" ]
          , Q.samples m.sent [ "1", "2" ]
          ]
        }
      ]
    }
