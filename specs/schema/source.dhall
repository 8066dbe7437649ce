-- Sources: kinds of raw records, where a run keeps its files, and the facts (constants) of a run.
let U = ./units.dhall

let X = ./expression.dhall

-- A fact of a run, out of a JSON document of its directory.
--   files    candidates, relative to the run; the first that exists is read
--   path     keys from the document's root
--   orAt     further paths, tried in order where `path` holds no value; objects and lists are no values there
--   type     integer, real, text, boolean, instant (UTC time) or duration (a decimal number of `unit`)
--   default  the value when it is not there; without one it must be
--   positive the number is above 0; a duration always is
let Constant =
      { Type =
          { name : Text
          , files : List Text
          , path : List Text
          , orAt : List (List Text)
          , type : Text
          , unit : U.Unit
          , default : Optional Text
          , positive : Bool
          , doc : Text
          }
      , default =
        { orAt = [] : List (List Text), unit = U.none, default = None Text, positive = False, doc = "" }
      }

-- One way to recognise a record: the text at `path` (keys from the record's root, or from its body when `inBody`),
-- after dropping the prefix `drop`, is looked up among the event names of a generation.
let Lookup = { path : List Text, inBody : Bool, drop : Text, generation : Text }

-- A body is replaced by its member `take` when `absent` is missing from it and all of `present` are there.
let Unwrap = { absent : Text, present : List Text, take : Text }

-- Broken lines are borne up to this share of a host's lines, and in any case up to `atLeast` of them.
let Quarantine = { share : Double, atLeast : Natural }

-- A kind of raw record.
--   kind     `json-lines`: one JSON object a line; other lines are passed over
--            `text-lines`: lines that a pattern tells apart; names of events are patterns, too
--            `json-records`: a JSON document with a list of records; `csv`: a row; `blocks`: lines `Key: value`,
--            blocks one under another or side by side; `samples`: samples of time series
--   hosts    glob of the host directories below the run's; the directory's name is the host's
--   hostFiles  `hosts` is a glob of files instead, the log of a host each (also with .gz or .zst): the host's name is what
--            the star in the last part of the glob stands for; `logs` is empty
--   logs     globs of log files below a host's directory (each also with .gz or .zst)
--   time     path of the record's instant: ISO 8601 with `Z` or an offset, and any fraction; empty of rows without one
--   orTime   of JSON lines: further paths of the instant; the first that holds a value is read
--   body     path of the object that holds the fields
--   lookups  ways to recognise a record, in order
--   line     of text lines: the pattern that all of them have; `time` and `body` are places of it
--   timeForm how an instant is written where it is not ISO 8601: `s`, `ms`, `us`, `ns` since 1970, or a text with `%`
--   zone     of times that do not name theirs: `UTC`, or an offset such as `+02:00`
--   begins   of blocks: the key that a block begins with
--   ignored  names of records, or prefixes that end in `*`, that no event has and nobody is to be warned of
let Source =
      { Type =
          { name : Text
          , kind : Text
          , hosts : Text
          , hostFiles : Bool
          , logs : List Text
          , time : List Text
          , orTime : List (List Text)
          , body : List Text
          , unwrap : List Unwrap
          , lookups : List Lookup
          , quarantine : Quarantine
          , constants : List Constant.Type
          , doc : Text
          , line : Text
          , timeForm : Text
          , zone : Text
          , begins : Text
          , ignored : List Text
          }
      , default =
        { kind = "json-lines"
        , hostFiles = False
        , logs = [] : List Text
        , orTime = [] : List (List Text)
        , unwrap = [] : List Unwrap
        , quarantine = { share = 0.001, atLeast = 10 }
        , constants = [] : List Constant.Type
        , doc = ""
        , line = ""
        , timeForm = ""
        , zone = ""
        , begins = ""
        , ignored = [] : List Text
        }
      }

in  { Constant
    , Lookup
    , Unwrap
    , Quarantine
    , Source
      -- the value of a run's constant
    , constant = \(c : Constant.Type) -> X.leaf "constant" c.name
    }
