-- Words of `E`: a field of the record that the log has for `read`, and its value.
let S = ../schema/package.dhall

let X = S.x

let E = S.event

let U = S.unit

let source = ./source.dhall

let Read = { word : Text, field : S.Field, equals : S.Expression }

-- Each field gets the name of its word, without the dot.
let read =
      \(word : Text) ->
      \(field : S.Field) ->
      \(value : S.Expression) ->
        let named = field // { name = Text/replace "." "_" word }

        in    { word, field = named, equals = X.equals (X.column (S.grain.columnOf named)) value } : Read

let absent =
      \(word : Text) ->
      \(field : S.Field) ->
        let named = field // { name = Text/replace "." "_" word }

        in  { word, field = named, equals = X.absent (X.column (S.grain.columnOf named)) } : Read

in    [ read "E.integer" (E.integer "n") (X.integer +5)
      , read "E.unsigned" (E.unsigned "n") (X.natural 5)
      , read "E.real" (E.real "share") (X.real 0.25)
      , read "E.text" (E.text "word") (X.text "abcdef")
      , read "E.boolean" (E.boolean "ok") X.yes
      , read "E.at" (E.at [ "nested", "k" ] (E.integer "k")) (X.natural 3)
      , read "E.atAny" (E.atAny [ [ "k" ], [ "nested", "k" ] ] (E.integer "k")) (X.natural 3)
      , read "E.inUnit" (E.inUnit U.second (E.integer "n")) (X.quantity 5.0 U.second)
      , read "E.averageSoFar" (E.averageSoFar (E.integer "n")) (X.natural 5)
      , read "E.counter" (E.counter (E.integer "n")) (X.natural 5)
      , read "E.gauge" (E.gauge (E.integer "n")) (X.natural 5)
      , read "E.count" (E.count (E.integer "n")) (X.natural 5)
      , read "E.threshold" (E.threshold (E.integer "n")) (X.natural 5)
      , read "E.id" (E.id (E.integer "n")) (X.natural 5)
      , read "E.otherwise" (E.otherwise "7" (E.integer "none")) (X.natural 7)
      , absent "E.optional" (E.optional (E.integer "none"))
      , read "E.always" (E.always "true" (E.boolean "ok")) X.yes
      , absent "E.never" (E.never (E.integer "n"))
      , read "E.changed" (E.changed [ E.take +3, E.before "c" ] (E.text "word")) (X.text "ab")
      , read "E.take" (E.changed [ E.take +3 ] (E.text "word")) (X.text "abc")
      , read "E.before" (E.changed [ E.before "@" ] (E.text "address")) (X.text "web-1")
      , absent "E.noValue" (E.optional (E.changed [ E.noValue "abcdef" ] (E.text "word")))
      , read "E.plus" (E.changed [ E.plus -1 ] (E.integer "n")) (X.natural 4)
      , read "E.duration" (E.inUnit U.nanosecond (E.changed [ E.duration ] (E.integer "took"))) (X.quantity 62.5 U.second)
      , read "E.clockDuration" (E.inUnit U.nanosecond (E.changed [ E.clockDuration ] (E.integer "lasted"))) (X.quantity 3723.5 U.second)
      , read "E.size" (E.inUnit U.byte (E.changed [ E.size ] (E.integer "size"))) (X.quantity 467000.0 U.byte)
      , read "E.binarySize" (E.inUnit U.byte (E.changed [ E.binarySize ] (E.integer "heap"))) (X.quantity 8.0 U.mebibyte)
      , read "E.grouped" (E.changed [ E.grouped ] (E.integer "rows")) (X.natural 1234567)
      , read "E.decimalComma" (E.changed [ E.decimalComma ] (E.real "weight")) (X.real 1234.5)
      , read "E.withUnit" (E.inUnit U.kilobyte (E.changed [ E.withUnit ] (E.real "load"))) (X.quantity 1.5 U.megabyte)
      , read "E.unitOf" (E.inUnit U.nanosecond (E.unitOf "time_unit" (E.at [ "real_time" ] (E.real "real_time")))) (X.quantity 250.0 U.nanosecond)
      , read "E.instant" (E.at [ "started" ] (E.instant "began")) (X.quantity 1772441999.0 U.second)
      ]
    : List Read
