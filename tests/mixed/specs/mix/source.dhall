let S = ../schema/package.dhall

let constant =
      { release = S.Constant::{ name = "release", files = [ "facts.json" ], path = [ "release" ], type = "text", doc = "Release" }
      , cores = S.Constant::{ name = "cores", files = [ "facts.json" ], path = [ "cores" ], type = "integer", unit = S.unit.count, doc = "Cores" }
      , deploy = S.Constant::{ name = "deploy", files = [ "facts.json" ], path = [ "deploy" ], type = "instant", default = Some "", doc = "Deploy" }
      }

let app =
      S.Source::{
      , name = "app"
      , hosts = "app-*"
      , logs = [ "app.log" ]
      , time = [ "ts" ]
      , body = [] : List Text
      , lookups = [ { path = [ "kind" ], inBody = False, drop = "", generation = "v1" } ]
      , constants = [ constant.release, constant.cores, constant.deploy ]
      , doc = "App logs"
      }

let proxy =
      S.Source::{
      , name = "proxy"
      , kind = "text-lines"
      , hosts = "app-*"
      , logs = [ "proxy.log" ]
      , line = "{at...} INFO {message...}"
      , time = [ "at" ]
      , body = [ "message" ]
      , zone = "UTC"
      , lookups = [] : List S.source.Lookup
      , doc = "Proxy logs"
      }

let cost =
      S.Source::{
      , name = "cost"
      , kind = "csv"
      , hosts = ""
      , logs = [ "cost.csv" ]
      , time = [] : List Text
      , body = [] : List Text
      , lookups = [] : List S.source.Lookup
      , doc = "Cost table"
      }

let samples =
      S.Source::{
      , name = "samples"
      , kind = "samples"
      , hosts = ""
      , logs = [ "prom/*.om" ]
      , time = [] : List Text
      , body = [] : List Text
      , lookups = [] : List S.source.Lookup
      , doc = "Samples"
      }

in  { constant, app, proxy, cost, samples }
