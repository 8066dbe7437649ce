-- Words of `U`: a quantity, printed in the unit.
let S = ../schema/package.dhall

let X = S.x

let U = S.unit

let case = ./case.dhall

let unit =
      \(word : Text) -> \(u : S.Unit) -> \(quantity : S.Expression) -> case.constant word quantity u

in    [ unit "U.none" U.none (X.natural 3) [ "3" ]
      , unit "U.ratio" U.ratio (X.over (X.natural 3) (X.natural 4)) [ "0.75" ]
      , unit "U.percent" U.percent (X.over (X.natural 3) (X.natural 4)) [ "75" ]
      , unit "U.nanosecond" U.nanosecond (X.quantity 2.0 U.microsecond) [ "2000" ]
      , unit "U.microsecond" U.microsecond (X.quantity 1500.0 U.nanosecond) [ "1.5" ]
      , unit "U.millisecond" U.millisecond (X.quantity 0.25 U.second) [ "250" ]
      , unit "U.second" U.second (X.quantity 250.0 U.millisecond) [ "0.25" ]
      , unit "U.minute" U.minute (X.quantity 90.0 U.second) [ "1.5" ]
      , unit "U.hour" U.hour (X.quantity 90.0 U.minute) [ "1.5" ]
      , unit "U.day" U.day (X.quantity 36.0 U.hour) [ "1.5" ]
      , unit "U.year" U.year (X.quantity 730.0 U.day) [ "2" ]
      , unit "U.hertz" U.hertz (X.over (X.natural 120) (X.quantity 1.0 U.minute)) [ "2" ]
      , unit "U.byte" U.byte (X.quantity 2.0 U.kibibyte) [ "2048" ]
      , unit "U.kibibyte" U.kibibyte (X.quantity 1536.0 U.byte) [ "1.5" ]
      , unit "U.mebibyte" U.mebibyte (X.quantity 1536.0 U.kibibyte) [ "1.5" ]
      , unit "U.gibibyte" U.gibibyte (X.quantity 1536.0 U.mebibyte) [ "1.5" ]
      , unit "U.tebibyte" U.tebibyte (X.quantity 1536.0 U.gibibyte) [ "1.5" ]
      , unit "U.kilobyte" U.kilobyte (X.quantity 1500.0 U.byte) [ "1.5" ]
      , unit "U.megabyte" U.megabyte (X.quantity 1500.0 U.kilobyte) [ "1.5" ]
      , unit "U.gigabyte" U.gigabyte (X.quantity 1500.0 U.megabyte) [ "1.5" ]
      , unit "U.terabyte" U.terabyte (X.quantity 1500.0 U.gigabyte) [ "1.5" ]
      , unit "U.bytePerSecond" U.bytePerSecond (X.over (X.quantity 1.0 U.kibibyte) (X.quantity 2.0 U.second)) [ "512" ]
      , unit "U.kibibytePerSecond" U.kibibytePerSecond (X.over (X.quantity 3.0 U.mebibyte) (X.quantity 2.0 U.second)) [ "1536" ]
      , unit "U.mebibytePerSecond" U.mebibytePerSecond (X.over (X.quantity 3.0 U.mebibyte) (X.quantity 2.0 U.second)) [ "1.5" ]
      , unit "U.perSecond" (U.perSecond U.megabyte) (X.over (X.quantity 3.0 U.megabyte) (X.quantity 2.0 U.second)) [ "1.5" ]
      , unit "U.perDay" (U.perDay U.megabyte) (X.over (X.quantity 3.0 U.megabyte) (X.quantity 12.0 U.hour)) [ "6" ]
      , unit "U.perYear" (U.perYear U.gigabyte) (X.over (X.quantity 3.0 U.megabyte) (X.quantity 1.0 U.day)) [ "1.095" ]
      , unit "U.event" U.event (X.quantity 3.0 U.event) [ "3" ]
      , unit "U.count" U.count (X.natural 3) [ "3" ]
      , unit "U.unit" (U.unit "kilorow" "krows") (X.quantity 1500.0 (U.unit "row" "rows")) [ "1.5" ]
      ]
    : List case.Case
