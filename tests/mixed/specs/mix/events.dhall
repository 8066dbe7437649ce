let S = ../schema/package.dhall

let E = S.event

let s = ./source.dhall

let U = S.unit

let f =
      { job = E.text "job"
      , prio = E.text "prio"
      , kb = E.inUnit U.kilobyte (E.integer "kb")
      , err = E.text "err"
      , status = E.integer "status"
      , took = E.inUnit (U.unit "second / 1" "s") (E.text "took")
      , step = E.integer "step"
      , users = E.inUnit U.count (E.integer "users")
      , cpu = E.inUnit U.millisecond (E.at [ "cpu_ms" ] (E.real "cpu"))
      , instance = E.at [ "labels", "instance" ] (E.text "instance")
      , value = E.at [ "value" ] (E.real "value")
      }

let ev =
      \(source : Text) -> \(name : Text) -> \(mark : Text) -> \(fields : List S.Field) -> \(doc : Text) ->
          { name, source, forms = [ { names = [ { generation = "v1", name = mark } ], unless = [] : List E.Unless, fields } ], doc }
        : S.Event

in  { f
    , enqueued = ev s.app.name "enqueued" "enqueue" [ f.job, f.prio ] "A job came"
    , started = ev s.app.name "started" "start" [ f.job ] "A job started"
    , done = ev s.app.name "done" "done" [ f.job, f.kb ] "A job is done"
    , failed = ev s.app.name "failed" "fail" [ f.job, f.err ] "A job failed"
    , got = ev s.proxy.name "got" "GET /job/{job} {status} {took}us" [ f.job, f.status, E.integer "took" ] "A request at the proxy"
    , cost = { name = "cost", source = s.cost.name, forms = [ { names = [] : List E.Name, unless = [] : List E.Unless, fields = [ f.step, f.users, f.cpu ] } ], doc = "A row of the cost table" } : S.Event
    , cpu = ev s.samples.name "cpu" "cpu_seconds_total" [ f.instance, E.counter (E.inUnit U.second f.value) ] "CPU"
    , queue = ev s.samples.name "queue" "queue_len" [ f.instance, E.gauge (E.inUnit U.count f.value) ] "Queue"
    }
