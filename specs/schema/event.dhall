-- Events: which records belong to one, and their fields.
let U = ./units.dhall

let X = ./expression.dhall

let S = ./source.dhall

-- A small change of a field's text: `take` characters, the part `before` a separator, a text that is `noValue`, `plus` a number,
-- a `duration` or `clockDuration` as ns, a `size` or `binarySize` as bytes, an `instant` as ns since 1970, a `grouped` number or
-- one with a `decimalComma`, or `withUnit` behind it. `unitOf` has the name of another field.
let Transform = { kind : Text, number : Integer, text : Text }

-- A field.
--   type        integer, unsigned (both 64 bits), real, text, boolean; or instant: see `time`
--   kind        value, count (of things, not below 0), gauge (a level), counter (a total since a start: only its increases
--               are meaningful), average (an average since a start), threshold (what someone set) or id (which one it is);
--               metrics may not average a counter or an average, and not measure a threshold or an id
--   paths       keys from the record's body; the first with a value counts
--   default     the value if no path has one
--   required    a record without a value and without a default is malformed; else the field is missing
let Field =
      { name : Text
      , type : Text
      , unit : U.Unit
      , kind : Text
      , paths : List (List Text)
      , default : Optional Text
      , required : Bool
      , transforms : List Transform
      , doc : Text
      }

-- A name that marks a record as this event, in a generation of names.
let Name = { generation : Text, name : Text }

-- The record is not of this event if the text at `path` of its body `equals` this (or, with `present`, exists).
let Unless = { path : List Text, equals : Text, present : Bool }

-- One form of an event: its names, the conditions that exclude a record, its fields.
let Form = { names : List Name, unless : List Unless, fields : List Field }

let Event = { name : Text, source : Text, forms : List Form, doc : Text }

let field =
      \(type : Text) ->
      \(name : Text) ->
        { name
        , type
        , unit = U.none
        , kind = "value"
        , paths = [ [ name ] ]
        , default = None Text
        , required = True
        , transforms = [] : List Transform
        , doc = ""
        } : Field

let event =
      \(e : { name : Text, source : Text, names : List Text, fields : List Field, doc : Text }) ->
        let names =
              List/fold
                Text
                e.names
                (List Name)
                (\(name : Text) -> \(rest : List Name) -> [ { generation = "", name } ] # rest)
                ([] : List Name)

        in  { name = e.name, source = e.source, forms = [ { names, unless = [] : List Unless, fields = e.fields } ], doc = e.doc }
            : Event

in  { Transform
    , Field
    , Name
    , Unless
    , Form
    , Event
      -- an event with one form: records with one of these names, in the generation without a name
    , event
      -- an event of a source, with one form and one name: its own name, that of its records, fields, doc
    , eventOf =
        \(source : S.Source.Type) ->
        \(name : Text) ->
        \(recordName : Text) ->
        \(fields : List Field) ->
        \(doc : Text) ->
          event { name, source = source.name, names = [ recordName ], fields, doc }
      -- fields, read from the key of their name unless `at` or `atAny` says otherwise
    , integer = field "integer"
    , unsigned = field "unsigned"
    , real = field "real"
    , text = field "text"
    , boolean = field "boolean"
      -- changes of a field
    , at = \(path : List Text) -> \(f : Field) -> f // { paths = [ path ] }
    , atAny = \(paths : List (List Text)) -> \(f : Field) -> f // { paths }
    , inUnit = \(unit : U.Unit) -> \(f : Field) -> f // { unit }
    , counter = \(f : Field) -> f // { kind = "counter" }
      -- an average since a start
    , averageSoFar = \(f : Field) -> f // { kind = "average" }
    , gauge = \(f : Field) -> f // { kind = "gauge" }
      -- how many things a record is about
    , count = \(f : Field) -> f // { kind = "count" }
      -- a limit or another number that someone set
    , threshold = \(f : Field) -> f // { kind = "threshold" }
      -- a number that says which one it is, such as a height
    , id = \(f : Field) -> f // { kind = "id" }
    , otherwise = \(value : Text) -> \(f : Field) -> f // { default = Some value }
    , optional = \(f : Field) -> f // { required = False }
    , changed = \(transforms : List Transform) -> \(f : Field) -> f // { transforms }
      -- a field with the same value in every record of the form
    , always = \(value : Text) -> \(f : Field) -> f // { paths = [] : List (List Text), default = Some value }
      -- the record's instant, if it is not at the `time` of the source; for JSON lines: keys from the record's root
    , time = \(path : List Text) -> field "instant" "" // { paths = [ path ] }
      -- a field that no record of the form has
    , never = \(f : Field) -> f // { paths = [] : List (List Text), required = False }
      -- transforms
    , take = \(n : Integer) -> { kind = "take", number = n, text = "" } : Transform
    , before = \(separator : Text) -> { kind = "before", number = +0, text = separator } : Transform
      -- this text is no value, such as `n/a` in place of a number
    , noValue = \(word : Text) -> { kind = "noValue", number = +0, text = word } : Transform
    , plus = \(n : Integer) -> { kind = "plus", number = n, text = "" } : Transform
      -- a duration in the format of Go (`1m2.5s`, `448.05ms`), as whole nanoseconds
    , duration = { kind = "duration", number = +0, text = "" } : Transform
      -- a duration as a clock shows it (`1:02:03.5`, `2:03`), as whole nanoseconds; days may stand before the hours
    , clockDuration = { kind = "clockDuration", number = +0, text = "" } : Transform
      -- a size as whole bytes: `467kB` are thousands, `1.5MiB` are units of 1024
    , size = { kind = "size", number = +0, text = "" } : Transform
      -- a size as whole bytes in which `K`, `kB`, `MB` are units of 1024, too, as in the JVM and PostgreSQL
    , binarySize = { kind = "binarySize", number = +0, text = "" } : Transform
      -- a number with commas between thousands: `1,234.5`
    , grouped = { kind = "grouped", number = +0, text = "" } : Transform
      -- a number with a decimal comma, and perhaps points between thousands: `1.234,5`
    , decimalComma = { kind = "decimalComma", number = +0, text = "" } : Transform
      -- a number with its unit behind it, such as `1.5MB/s` or `85%`, is converted to the unit of its field
    , withUnit = { kind = "withUnit", number = +0, text = "" } : Transform
      -- a number in the unit that the record has in another field, such as `time_unit`, is converted to that of its field
    , unitOf =
        \(name : Text) ->
        \(f : Field) ->
          f // { transforms = f.transforms # [ { kind = "unitOf", number = +0, text = name } ] }
      -- a second instant of a record, in ISO 8601 with `Z` or an offset, as whole nanoseconds since 1970
    , instant =
        \(name : Text) ->
          field "integer" name // { unit = U.nanosecond, transforms = [ { kind = "instant", number = +0, text = "" } ] }
      -- conditions that exclude a record
    , is = \(path : List Text) -> \(value : Text) -> { path, equals = value, present = False } : Unless
    , has = \(path : List Text) -> { path, equals = "", present = True } : Unless
    }
