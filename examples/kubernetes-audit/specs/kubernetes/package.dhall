-- The audit log of a Kubernetes API server (audit.k8s.io/v1, any level): lines of JSON.
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
      , doc = "Version of the cluster"
      }

-- `stage` is the name of the record. Each record has two instants: that of the request, and its own.
let log =
      S.Source::{
      , name = "log"
      , hosts = ""
      , logs = [ "audit.log" ]
      , time = [ "stageTimestamp" ]
      , body = [] : List Text
      , lookups = [ S.source.nameAt [ "stage" ] ]
      , constants = [ version ]
      , ignored = [ "RequestReceived" ]
      , doc = "Audit log of the API server"
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

let e =
      { completed =
          E.event
            { name = "completed", source = log.name, names = [ "ResponseComplete" ], fields, doc = "A response was sent" }
      , started =
          E.event
            { name = "started"
            , source = log.name
            , names = [ "ResponseStarted" ]
            , fields
            , doc = "A long response, such as that of a watch, started"
            }
      }

let requests = G.eachRecord { name = "requests", event = e.completed, fields, doc = "A request" }

let watches = G.eachRecord { name = "watches", event = e.started, fields, doc = "A watch" }

let column = \(f : S.Field) -> X.column (G.columnOf f)

let latency = X.minus (column field.reached) (column field.received)

let requestsOf =
      \(m : { id : Text, name : Text, verbs : Text, doc : Text }) ->
        S.Metric::(     m.{ id, name, doc }
                    /\  { grain = requests.grain.name
                        , measure = latency
                        , where = X.matches (column field.verb) m.verbs
                        , unit = U.millisecond
                        , better = "lower"
                        }
                  )

let m =
      { all = requestsOf { id = "latency", name = "All requests", verbs = ".*", doc = "Time from the request to the end of the response" }
      , get = requestsOf { id = "latency_get", name = "get", verbs = "get", doc = "Latency of reading an object" }
      , list = requestsOf { id = "latency_list", name = "list", verbs = "list", doc = "Latency of listing objects" }
      , write =
          requestsOf
            { id = "latency_write"
            , name = "Writes"
            , verbs = "create|update|patch|delete"
            , doc = "Latency of requests that change an object"
            }
      , watch =
          S.Metric::{
          , id = "watch_start"
          , name = "Watches"
          , grain = watches.grain.name
          , measure = latency
          , unit = U.millisecond
          , better = "lower"
          , doc = "Time from the request to the start of the response"
          }
      , refused =
          S.Metric::{
          , id = "refused"
          , name = "Refused"
          , grain = requests.grain.name
          , measure = X.natural 1
          , where = X.atLeast (column field.code) (X.natural 400)
          , unit = U.count
          , better = "lower"
          , doc = "Requests with a status of 400 or more"
          }
      }

let latencies = [ m.all, m.get, m.list, m.write, m.watch ]

-- assay query latency --run runs/1.29.4 --filter nodes-only
let nodesOnly =
      S.Filter::{
      , name = "nodes-only"
      , conditions =
        [ { grain = requests.grain.name, holds = X.matches (column field.user) "system:kubelet" } ]
      , doc = "Requests of kubelets"
      }

let Q = S.example

let record =
      \(stage : Text) ->
      \(verb : Text) ->
      \(code : Text) ->
      \(end : Text) ->
        "{\"kind\":\"Event\",\"auditID\":\"${end}\",\"stage\":\"${stage}\",\"verb\":\"${verb}\",\"user\":{\"username\":\"system:kubelet\"},\"objectRef\":{\"resource\":\"pods\"},\"responseStatus\":{\"code\":${code}},\"requestReceivedTimestamp\":\"2026-03-02T09:00:00.000001Z\",\"stageTimestamp\":\"2026-03-02T09:00:00.${end}Z\"}"

in  S.Package::{
    , system = "kubernetes"
    , sources = [ log ]
    , events = [ e.completed, e.started ]
    , relations = [ requests.relation, watches.relation ]
    , grains = [ requests.grain, watches.grain ]
    , metrics = S.metrics (toMap m)
    , filters = [ nodesOnly ]
    , summaries = [ S.Summary::{ name = "all", doc = "All samples count alike" } ]
    , reports =
      [ S.Report::{
        , name = "comparison"
        , title = "Kubernetes {others} against {base}"
        , intro = "Latency of the API server, from its audit log."
        , manifest = [ R.fact "Version" version (R.text 0) ]
        , sections = [ R.section "Latency" latencies // { columns = [ "median", "p95", "max" ] } ]
        , charts = [ R.cdf m.list, R.cdf m.write ]
        , dictionary = [ R.group "Latency" latencies ]
        , style = "prefixed"
        , summary = "all"
        , label = version.name
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
