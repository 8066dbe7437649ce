-- The access log of nginx, in the format `combined` with two times at the end:
--   log_format timed '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" '
--                    '"$http_user_agent" $request_time $upstream_response_time';
let S = ../schema/package.dhall

let E = S.event

let G = S.grain

let M = S.metric

let Q = S.example

let R = S.report

let U = S.unit

let X = S.x

let version = S.Constant::{ name = "version", files = [ "meta.json" ], path = [ "version" ] }

-- Times are local: the pattern has the offset of this server, and `zone` is that offset.
let log =
      S.Source::{
      , name = "log"
      , kind = "text-lines"
      , logs = [ "access.log" ]
      , line = "{client} - {} [{time} +0000] {request...}"
      , time = [ "time" ]
      , timeForm = "%d/%b/%Y:%H:%M:%S"
      , zone = "UTC"
      , body = [ "request" ]
      , constants = [ version ]
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

let form =
      \(end : Text) ->
      \(upstream : S.Field) ->
        S.Form::{ names = [ { generation = "", name = "${line} ${end}" } ], fields = fields # [ upstream ] }

let answered =
      { name = "answered"
      , source = log.name
      , forms = [ form "-" (E.never field.upstream), form "{upstream}" field.upstream ]
      , doc = "A response was sent"
      }

let requests = G.records "requests" answered "A request, in the order of the log"

let time = M.lower requests.grain U.second

let total = G.valueOf field.total

let upstream = G.valueOf field.upstream

let status = G.valueOf field.status

let m =
      { total =
              time "request_time" "Request" total
          //  { doc = "Time from the first byte of the request to the last byte of the response (`$request_time`)" }
      , api =
              time "api_time" "API request" total
          //  { where = X.matches (G.valueOf field.path) "/api/.*", doc = "Time of requests to paths below `/api/`" }
      , upstream =
              time "upstream_time" "Upstream" upstream
          //  { doc = "Response time of the application behind nginx (`$upstream_response_time`)" }
      , own =
              time "own_time" "nginx itself" (X.minus total upstream)
          //  { doc = "Time of the request minus that of the application" }
      , failed =
              M.lower requests.grain U.count "failed" "Failed" (X.natural 1)
          //  { where = X.atLeast status (X.natural 500), doc = "Requests with a status of 500 or more" }
      , sent =
              M.lower requests.grain U.kibibyte "sent" "Response" (G.valueOf field.sent)
          //  { where = X.equals status (X.natural 200), doc = "Size of a successful response, without its headers" }
      }

in  S.Package::{
    , system = "nginx"
    , sources = [ log ]
    , events = [ answered ]
    , relations = [ requests.relation ]
    , grains = [ requests.grain ]
    , metrics = S.metrics (toMap m)
    , reports =
      [     R.comparison
              [ R.section "Times" [ m.total, m.api, m.upstream, m.own ] // { columns = [ "median", "p95", "p99" ] }
              , R.section "Responses" [ m.sent ]
              ]
        //  R.versions version
        //  { intro = "Response times from the access logs.", charts = [ R.cdf m.api, R.cdf m.upstream ] }
      ]
    , examples =
      [ S.Example::{
        , name = "a request with upstream, one without, and one that failed"
        , files =
          [ Q.file "meta.json" "{\"version\": \"a\"}"
          , Q.file
              "access.log"
              ''
              10.0.0.7 - - [02/Mar/2026:09:00:00 +0000] "GET /api/items/7 HTTP/1.1" 200 2048 "-" "curl/8.5.0" 0.025 0.020
              10.0.0.7 - - [02/Mar/2026:09:00:00 +0000] "GET /static/app.js HTTP/1.1" 200 1024 "-" "Mozilla/5.0 (X11; Linux x86_64)" 0.001 -
              10.0.0.7 - - [02/Mar/2026:09:00:00 +0000] "POST /api/orders HTTP/1.1" 502 0 "-" "curl/8.5.0" 0.101 0.100
              ''
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
