-- Units that no domain owns. `name` is what the checker reads (a pint expression), `symbol` what reports print.
let Unit = { name : Text, symbol : Text }

let unit = \(name : Text) -> \(symbol : Text) -> { name, symbol } : Unit

in  { Unit
    , unit
    , none = unit "dimensionless" ""
    , ratio = unit "dimensionless" "∶"
    , percent = unit "percent" "%"
    , nanosecond = unit "nanosecond" "ns"
    , millisecond = unit "millisecond" "ms"
    , second = unit "second" "s"
    , hertz = unit "hertz" "Hz"
    , byte = unit "byte" "Bytes"
    , kibibyte = unit "kibibyte" "KiB"
    , mebibyte = unit "mebibyte" "MiB"
    , kibibytePerSecond = unit "kibibyte / second" "KiB/s"
    , mebibytePerSecond = unit "mebibyte / second" "MiB/s"
    , event = unit "event" "events"
    , count = unit "count" "units"
    }
