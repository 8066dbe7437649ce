-- Units of no particular domain. The checker reads `name` (a pint expression), reports print `symbol`.
let Unit = { name : Text, symbol : Text }

let unit = \(name : Text) -> \(symbol : Text) -> { name, symbol } : Unit

-- A rate: a unit per second, day or year (of 365 days).
let rate =
      \(name : Text) -> \(symbol : Text) -> \(u : Unit) -> unit "${u.name} / ${name}" "${u.symbol}/${symbol}"

in  { Unit
    , unit
    , none = unit "dimensionless" ""
    , ratio = unit "dimensionless" "∶"
    , percent = unit "percent" "%"
    , nanosecond = unit "nanosecond" "ns"
    , microsecond = unit "microsecond" "µs"
    , millisecond = unit "millisecond" "ms"
    , second = unit "second" "s"
    , minute = unit "minute" "min"
    , hour = unit "hour" "h"
    , day = unit "day" "d"
    , year = unit "year" "years"
    , hertz = unit "hertz" "Hz"
    , byte = unit "byte" "Bytes"
    , kilobyte = unit "kilobyte" "kB"
    , kibibyte = unit "kibibyte" "KiB"
    , megabyte = unit "megabyte" "MB"
    , mebibyte = unit "mebibyte" "MiB"
    , gigabyte = unit "gigabyte" "GB"
    , gibibyte = unit "gibibyte" "GiB"
    , terabyte = unit "terabyte" "TB"
    , tebibyte = unit "tebibyte" "TiB"
    , bytePerSecond = unit "byte / second" "B/s"
    , kibibytePerSecond = unit "kibibyte / second" "KiB/s"
    , mebibytePerSecond = unit "mebibyte / second" "MiB/s"
    , perSecond = rate "second" "s"
    , perDay = rate "day" "d"
    , perYear = rate "year" "year"
    , event = unit "event" "events"
    , count = unit "count" ""
    }
