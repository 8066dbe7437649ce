-- The system of these tests, behind `tests.support.small.PACKAGE`: requests that begin and end, the load of their hosts
-- beside them, and what the log says of records that it dropped.
let level = E.integer "level"

let weight = E.otherwise "7" (E.integer "weight")

let load = event "log" "load" [ level, weight ]

let name = E.text "name"

let number = E.optional (E.integer "number")

let dropped = event "log" "dropped" [ name, number ]

let sampled = event "log" "sampled" [ fid ]

let place = G.column "integer" "place" U.none "Place of the request in its log"

let begun = G.column "instant" "begun" U.none "When it began"

let loaded = G.column "integer" "loaded" U.count "Load of the host then"

let weighed = G.column "integer" "weighed" U.count "Weight of the load"

let weights =
      relation "weights" "SELECT host, seq AS place, weight AS weighed FROM load" [ "load" ] [ host, place, weighed ] [ "host", "place" ]

let loading =
      S.Grain::{
      , name = "loading"
      , relation = "weights"
      , key = [ "host", "place" ]
      , columns = weights.columns
      , doc = "A load"
      }

let requests =
      relation
        "requests"
        ''
        SELECT began.host, began.id, began.seq AS place, began.t_ns AS begun, coalesce(load.level, 0) AS loaded
        FROM began
        LEFT JOIN load ON load.host = began.host AND load.seq = began.seq + 1
        ''
        [ "began", "load" ]
        [ host, id, place, begun, loaded ]
        [ "host", "id" ]

let ends = picked "request" "finished" ended "first" [ G.sameColumn host host, G.same id fid ]

let request =
      S.Grain::{
      , name = "request"
      , relation = "requests"
      , key = [ "host", "id" ]
      , columns = requests.columns
      , instants = [ ends ]
      , doc = "A request"
      }

let took = X.minus (G.instant ends) (X.column begun)

let all = { accepted = False }

let duration = metric "duration" "request" took U.second // all

let assumed = metric "assumed" "request" (S.orElse took (X.quantity 10.0 U.millisecond)) U.second // all

let counted =
      metric "counted" "request" took U.second // all // { per = host.name, sampledOnly = False }

let loads = metric "loads" "request" (X.column loaded) U.count // all // { per = host.name }

let heavy = metric "heavy" "loading" (X.column weighed) U.count // all

let runs =
      S.Grain::{
      , name = "busy"
      , runs = Some
        { of = "request", holds = X.atMost (X.column loaded) (X.asUnit U.count (X.natural 0)), by = [ "host" ], along = "place", carry = [] : List Text }
      , key = [ "host", "first" ]
      , columns =
        [ host
        , G.column "integer" "first" U.none "First"
        , G.column "integer" "last" U.none "Last"
        , G.column "integer" "length" U.count "Length"
        ]
      , doc = "Requests one after the other without load"
      }

let idle = metric "idle" "busy" (X.column (G.column "integer" "length" U.count "")) U.count // all
