-- A system whose metrics have no samples for different reasons, behind `tests.support.small.PACKAGE`: jobs that are
-- queued, begin, end and may be noted by another host, in the order of the log.
let queued = event "log" "queued" [ fid ]

let checked = event "log" "checked" [ fid, E.integer "code" ]

let at = G.column "instant" "at" U.none "When it was queued"

let jobs =
      relation
        "jobs"
        "SELECT host, id, min(t_ns) AS at FROM queued GROUP BY host, id"
        [ "queued" ]
        [ host, id, at ]
        [ "host", "id" ]

let keys = [ G.sameColumn host host, G.same id fid ]

let started = picked "job" "started" began "first" keys // { fields = [ "a" ] }

let finished = picked "job" "finished" ended "last" keys

let passed =
          picked "job" "passed" checked "first" keys
      //  { where = X.equals (G.field (E.integer "code")) (X.natural 0) }

let waited =
      picked "job" "waited" checked "latest before" keys // { before = "started" }

let job =
      S.Grain::{
      , name = "job"
      , relation = "jobs"
      , key = [ "host", "id" ]
      , columns = jobs.columns
      , instants = [ started, finished, passed, waited ]
      , at = "at"
      , doc = "A job"
      }

let wait = X.minus (G.instant started) (X.column at)

let work = X.minus (G.instant finished) (G.instant started)

let filters =
      [ S.Filter::{
        , name = "unfinished"
        , doc = "It does not end"
        , conditions = [ { grain = "job", holds = X.absent (G.instant finished) } ]
        }
      ]

let losses =
      relation "losses" "SELECT host, id FROM queued WHERE id = 'lost'" [ "queued" ] [ host, id ] [ "host", "id" ]

let loss =
      S.Grain::{ name = "loss", relation = "losses", key = losses.key, columns = losses.columns, doc = "A lost job" }

let stall =
      S.Grain::{
      , name = "stall"
      , runs = Some { of = "job", holds = X.absent (G.instant started), by = [ "host" ], along = "at", carry = [] : List Text }
      , key = [ "host", "first" ]
      , columns =
        [ host
        , G.column "instant" "first" U.none "First"
        , G.column "instant" "last" U.none "Last"
        , G.column "integer" "length" U.count "Length"
        ]
      , doc = "Jobs one after the other that do not begin"
      }

let starts =
      relation
        "starts"
        "SELECT host, id, min(t_ns) AS at FROM began GROUP BY host, id"
        [ "began" ]
        [ host, id, at ]
        [ "host", "id" ]

let start =
      S.Grain::{
      , name = "start"
      , relation = "starts"
      , key = [ "host", "id" ]
      , columns = starts.columns
      , at = "at"
      , doc = "A start"
      }

let metrics =
      [ metric "wait" "job" wait U.second
      , metric "work" "job" work U.second
      , metric "amount" "job" (G.taken started fa) U.count
      , metric "checking" "job" (X.minus (G.instant passed) (G.instant started)) U.second
      , metric "leading" "job" (X.minus (G.instant started) (G.instant waited)) U.second
      , metric "long" "job" wait U.second // { where = X.atLeast wait (X.quantity 1000.0 U.second) }
      , metric "lost" "loss" (X.natural 1) U.count
      , metric "stalled" "stall" (X.column (G.column "integer" "length" U.count "")) U.count
      , metric "began_count" "start" (X.natural 1) U.count
      , metric "passing" "job" wait U.second // { where = X.present (G.instant passed) }
      ]
