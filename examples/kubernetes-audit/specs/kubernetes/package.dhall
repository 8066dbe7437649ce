-- The audit log of a Kubernetes API server (audit.k8s.io/v1, any level): lines of JSON.
let S = ../schema/package.dhall

let E = S.event

let G = S.grain

let M = S.metric

let Q = S.example

let R = S.report

let U = S.unit

let X = S.x

let version = S.Constant::{ name = "version", files = [ "meta.json" ], path = [ "version" ] }

-- `stage` is the name of the record. Each record has two instants: that of the request, and its own.
let log =
      S.Source::{
      , name = "log"
      , logs = [ "audit.log" ]
      , time = [ "stageTimestamp" ]
      , lookups = [ S.source.nameAt [ "stage" ] ]
      , constants = [ version ]
      , ignored = [ "RequestReceived" ]
      }

let field =
      { verb = E.text "verb"
      , resource = E.at [ "objectRef", "resource" ] (E.text "resource")
      , user = E.at [ "user", "username" ] (E.text "username")
      , code = E.at [ "responseStatus", "code" ] (E.integer "code")
      , received = E.at [ "requestReceivedTimestamp" ] (E.instant "received")
      , reached = E.at [ "stageTimestamp" ] (E.instant "reached")
      }

let fields = [ field.verb, field.resource, field.user, field.code, field.received, field.reached ]

let event = E.eventOf log

let e =
      { completed = event "completed" "ResponseComplete" fields "A response was sent"
      , started = event "started" "ResponseStarted" fields "A long response, such as that of a watch, started"
      }

let requests = G.records "requests" e.completed "A request"

let watches = G.records "watches" e.started "A watch"

let latency = X.minus (G.valueOf field.reached) (G.valueOf field.received)

let requestsOf =
      \(verbs : Text) ->
      \(id : Text) ->
      \(name : Text) ->
        M.lower requests.grain U.millisecond id name latency // { where = X.matches (G.valueOf field.verb) verbs }

let m =
      { all =
              requestsOf ".*" "latency" "All requests"
          //  { doc = "Time from the request to the end of the response" }
      , get = requestsOf "get" "latency_get" "get" // { doc = "Latency of reading an object" }
      , list = requestsOf "list" "latency_list" "list" // { doc = "Latency of listing objects" }
      , write =
              requestsOf "create|update|patch|delete" "latency_write" "Writes"
          //  { doc = "Latency of requests that change an object" }
      , watch =
              M.lower watches.grain U.millisecond "watch_start" "Watches" latency
          //  { doc = "Time from the request to the start of the response" }
      , refused =
              M.lower requests.grain U.count "refused" "Refused" (X.natural 1)
          //  { where = X.atLeast (G.valueOf field.code) (X.natural 400), doc = "Requests with a status of 400 or more" }
      }

-- assay query latency --run runs/1.29.4 --filter nodes-only
let nodesOnly =
      S.Filter::{
      , name = "nodes-only"
      , conditions = [ { grain = requests.grain.name, holds = X.matches (G.valueOf field.user) "system:kubelet" } ]
      , doc = "Requests of kubelets"
      }

let record =
      \(stage : Text) ->
      \(verb : Text) ->
      \(code : Text) ->
      \(end : Text) ->
        ''
        {"kind":"Event","auditID":"${end}","stage":"${stage}","verb":"${verb}","user":{"username":"system:kubelet"},"objectRef":{"resource":"pods"},"responseStatus":{"code":${code}},"requestReceivedTimestamp":"2026-03-02T09:00:00.000001Z","stageTimestamp":"2026-03-02T09:00:00.${end}Z"}''

in  S.Package::{
    , system = "kubernetes"
    , sources = [ log ]
    , events = [ e.completed, e.started ]
    , relations = [ requests.relation, watches.relation ]
    , grains = [ requests.grain, watches.grain ]
    , metrics = S.metrics (toMap m)
    , filters = [ nodesOnly ]
    , reports =
      [     R.comparison
              [     R.section "Latency" [ m.all, m.get, m.list, m.write, m.watch ]
                //  { columns = [ "median", "p95", "max" ] }
              ]
        //  R.versions version
        //  { title = "Kubernetes {others} against {base}"
            , intro = "Latency of the API server, from its audit log."
            , charts = [ R.cdf m.list, R.cdf m.write ]
            }
      ]
    , examples =
      [ S.Example::{
        , name = "two requests and a watch"
        , files =
          [ Q.file "meta.json" "{\"version\": \"1.29.4\"}"
          , Q.file
              "audit.log"
              ( Q.lines
                  [ record "ResponseComplete" "get" "200" "002501"
                  , record "ResponseComplete" "update" "409" "010001"
                  , record "ResponseStarted" "watch" "200" "001001"
                  ]
              )
          ]
        , expect =
          [ Q.samples m.all [ "2.5", "10" ]
          , Q.samples m.get [ "2.5" ]
          , Q.none m.list
          , Q.samples m.write [ "10" ]
          , Q.samples m.watch [ "1" ]
          , Q.samples m.refused [ "1" ]
          ]
        }
      ]
    }
