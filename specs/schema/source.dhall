-- Sources: kinds of raw records, where a run keeps its files, and the facts (constants) of a run.
let U = ./units.dhall

let X = ./expression.dhall

-- A fact of a run, from a JSON document of its directory or from a line of a text file.
--   files    candidates, relative to the run; the first that exists is read; for `line`, globs (also with .gz or .zst)
--   path     keys from the document's root
--   orAt     further paths, tried in order if `path` has no value; objects and lists are not values
--   line     instead of `path`: a pattern with the placeholder `{value}`; the first matching line counts
--   type     integer, real, text, boolean, instant (UTC) or duration (a decimal number in `unit`)
--   default  the value if it is missing; without a default it is required
--   positive the number must be above 0, as durations always must
let Constant =
      { Type =
          { name : Text
          , files : List Text
          , path : List Text
          , orAt : List (List Text)
          , line : Text
          , type : Text
          , unit : U.Unit
          , default : Optional Text
          , positive : Bool
          , doc : Text
          }
      , default =
        { type = "text"
        , path = [] : List Text
        , orAt = [] : List (List Text)
        , line = ""
        , unit = U.none
        , default = None Text
        , positive = False
        , doc = ""
        }
      }

-- One way to recognise a record: the text at `path` (keys from the record's root, or from its body when `inBody`),
-- after dropping the prefix `drop`, is looked up among the event names of a generation.
let Lookup = { path : List Text, inBody : Bool, drop : Text, generation : Text }

-- A body is replaced by its member `take` if it has no member `absent`, but all members `present`.
let Unwrap = { absent : Text, present : List Text, take : Text }

-- Malformed records are accepted up to this share of a host's lines, and always up to `atLeast` of them.
let Quarantine = { share : Double, atLeast : Natural }

-- A kind of raw record.
--   kind     `json-lines`: one JSON object per line; other lines are skipped `logfmt`: lines of `key=value`;
--            `text-lines`: lines with a common pattern; names of events are patterns, too `json-records`: a JSON
--            document with a list of records; `csv`: a row; `blocks`: lines `Key: value`, blocks below each other or
--            side by side; `samples`: samples of time series
--   hosts    glob of the host directories below the run's; the directory's name is the host's; empty for files of the run
--   hostFiles  `hosts` is a glob of files, one log per host (also with .gz or .zst): the host's name is the part that
--            the star in the last part of the glob matches; `logs` is empty
--   logs     globs of log files below a host's directory (each also with .gz or .zst)
--   time     path of the record's instant: ISO 8601 with `Z` or an offset, and any fraction; empty for rows without
--            one; for tables and blocks, the columns of the instant; for text lines, its placeholders in `line`
--   orTime   for JSON lines and logfmt: further paths of the instant; the first with a value counts
--   body     path of the object with the fields; for lists of records that of the list, or of an object, with `*`;
--            `[]` in it leads into each item of a list
--   lookups  ways to recognise a record, in order; without any, each record belongs to the only event of the source
--   line     for text lines: their common pattern; `time` and `body` are its placeholders
--   timeForm the form of an instant that is not ISO 8601: `s`, `ms`, `us`, `ns` since 1970, or a text with `%`
--   start    the constant, an instant, from which numbers of the form `s`, `ms`, `us` or `ns` count, instead of 1970
--   zone     for times without a zone: `UTC`, or an offset such as `+02:00`
--   begins   for blocks: the key that a block begins with; for tables: the first column of a header below other lines
--   ignored  names of records, or prefixes that end in `*`, that belong to no event and cause no warning
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
          , start : Text
          , zone : Text
          , begins : Text
          , ignored : List Text
          }
      , default =
        { kind = "json-lines"
        , hosts = ""
        , hostFiles = False
        , logs = [] : List Text
        , orTime = [] : List (List Text)
        , body = [] : List Text
        , unwrap = [] : List Unwrap
        , lookups = [] : List Lookup
        , quarantine = { share = 0.001, atLeast = 10 }
        , constants = [] : List Constant.Type
        , doc = ""
        , line = ""
        , timeForm = ""
        , start = ""
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
      -- lookup: the name is the text at this path from the record's root, in the generation without a name
    , nameAt = \(path : List Text) -> { path, inBody = False, drop = "", generation = "" } : Lookup
      -- the value of a constant of the run
    , constant = \(c : Constant.Type) -> X.leaf "constant" c.name
    }
