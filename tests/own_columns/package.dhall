let S = ../schema/package.dhall
let E = S.event
let G = S.grain
let X = S.x
let U = S.unit
let M = S.metric
let B = S.block
let version = S.Constant::{ name = "version", files = [ "meta.json" ], path = [ "version" ], type = "text", doc = "Version" }
let wait = S.Constant::{ name = "wait", files = [ "meta.json" ], path = [ "wait" ], type = "duration", unit = U.millisecond, doc = "Longest wait" }
let source =
      S.Source::{
      , name = "logs", hosts = "h*", logs = [ "log.jsonl" ], time = [ "t" ], body = [ "d" ]
      , lookups = [ { path = [ "k" ], inBody = False, drop = "", generation = "g" } ]
      , constants = [ version, wait ]
      }
let fields = [ E.integer "n", E.integer "place", E.integer "island", E.integer "holds", E.integer "value", E.inUnit U.millisecond (E.real "took") ]
let try =
        { name = "tried", source = "logs", doc = "A try"
        , forms = [ { names = [ { generation = "g", name = "try" } ], unless = [] : List E.Unless, fields } ]
        }
      : S.Event
let column = \(name : Text) -> G.column "integer" name U.none name
let host = G.column "text" "host" U.none "Host"
let n = column "n"
let place = column "place"
let many = G.column "integer" "many" U.event "Tries of the same n"
let took = G.column "real" "took" U.millisecond "Took"
let name = "try"
let rows =
      S.Relation::{
      , name = "tries"
      , sql = "SELECT host, t_ns AS at, n, place, island, holds, value, took FROM tried"
      , uses = [ try.name ]
      , columns = [ host, G.column "instant" "at" U.nanosecond "Time of the record", n, place, column "island", column "holds", column "value", took ]
      , key = [ host.name, place.name ]
      }
let tries =
      S.Grain::{
      , name, relation = rows.name, key = rows.key, columns = rows.columns
      , tallies = [ { column = many, of = try.name, on = [ G.sameColumn n n ], where = X.nothing } ]
      }
let streak =
      S.Grain::{
      , name = "streak"
      , runs = Some { of = name, holds = X.above (X.column n) (X.natural 0), by = [ "host" ], along = place.name, carry = [ "island", "holds" ] }
      , key = [ "host", "first" ]
      , columns = [ host, column "first", column "last", column "length", column "first_island", column "last_island", column "first_holds", column "last_holds" ]
      }
let late = S.Metric::{ id = "late", name = "Late", doc = "Beyond the wait", grain = name, measure = S.source.constant wait, unit = U.second }
let metric = \(id : Text) -> \(grain : Text) -> \(of : S.Column) -> S.Metric::{ id, name = id, doc = id, grain, measure = X.column of, unit = of.unit }
let slow = metric "slow" name took // { where = X.above (X.column took) (X.quantity 0.0105 U.second) }
let sum = metric "sum" name took // { measure = X.plus (X.column took) (X.quantity 1.0 U.minute) }
let same = metric "same" name many
let length = metric "length" "streak" (column "length")
let middle = metric "middle" "streak" (column "last_holds")
let report =
      S.Report::{
      , name = "all", title = "{base}: waits {constant.wait} s", intro = "", manifest = [] : List S.report.ManifestRow
      , sections = [ S.report.section "All" [ same, length ] ], charts = [] : List S.report.Chart
      , dictionary = [ S.report.group "All" [ same, length ] ], style = "three-digits", summary = "all", label = version.name
      }
in  S.Package::{
    , system = "tries", sources = [ source ], events = [ try ], relations = [ rows ], grains = [ tries, streak ]
    , metrics = [ slow, sum, same, length, middle, late ]
    , summaries = [ S.Summary::{ name = "all", doc = "All" } ]
    , reports = [ report ]
    }
