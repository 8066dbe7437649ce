-- The source: where the logs of a run are, how lines are recognized, and the constants of the run.
let S = ../schema/package.dhall

let constant =
      { version =
          S.Constant::{
          , name = "version"
          , files = [ "meta.json" ]
          , path = [ "version" ]
          , type = "text"
          , doc = "Version of the service"
          }
      }

let logs =
      S.Source::{
      , name = "logs"
      , hosts = "web-*"
      , logs = [ "log.jsonl" ]
      , time = [ "time" ]
      , body = [ "data" ]
      , lookups = [ S.source.nameAt [ "event" ] ]
      , constants = [ constant.version ]
      , doc = "Logs of the service: one JSON object per line, one directory per host"
      }

in  { logs, constant }
