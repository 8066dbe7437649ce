-- Words of `X`, and those of other groups that yield expressions.
let S = ../schema/package.dhall

let G = S.grain

let X = S.x

let U = S.unit

let source = ./source.dhall

let case = ./case.dhall

let value = case.value

let holds = case.holds

let constant = source.constant

let n = G.valueOf source.field.n

let a = G.valueOf source.field.a

let b = G.valueOf source.field.b

let name = G.valueOf source.field.name

let ok = G.valueOf source.field.ok

in    [ value "X.integer" (X.integer -3) U.none [ "-3", "-3", "-3" ]
      , value "X.natural" (X.natural 3) U.none [ "3", "3", "3" ]
      , value "X.real" (X.real 0.5) U.none [ "0.5", "0.5", "0.5" ]
      , holds "X.text" (X.equals name (X.text "db-1")) [ "2" ]
      , holds "X.yes" (X.equals ok X.yes) [ "1", "3" ]
      , holds "X.no" (X.equals ok X.no) [ "2" ]
      , value "X.quantity" (X.quantity 1.5 U.minute) U.second [ "90", "90", "90" ]
      , value "X.column" (X.column (G.columnOf source.field.a)) U.none [ "-7", "7" ]
      , value "G.valueOf" (G.valueOf source.field.a) U.none [ "-7", "7" ]
      , value "X.plus" (X.plus a b) U.none [ "-7", "9" ]
      , value "X.minus" (X.minus a b) U.none [ "-7", "5" ]
      , value "X.times" (X.times a b) U.none [ "0", "14" ]
      , value "X.over" (X.over a b) U.none [ "3.5" ]
      , value "X.div" (X.div a (X.natural 2)) U.none [ "-3", "3" ]
      , value "X.floor" (X.floor (X.times (X.real 0.5) a)) U.none [ "-4", "3" ]
      , value "X.greatest" (X.greatest a b) U.none [ "0", "3", "7" ]
      , value "X.whole" (X.whole U.second (X.quantity 1999.0 U.millisecond)) U.second [ "1", "1", "1" ]
      , value "X.asUnit" (X.asUnit U.second b) U.second [ "0", "2", "3" ]
    , value "X.bound" (X.bound U.second (X.text "0.5")) U.second [ "0.5", "0.5", "0.5" ]
      , holds "X.atLeast" (X.atLeast b (X.natural 2)) [ "1", "3" ]
      , holds "X.atMost" (X.atMost b (X.natural 2)) [ "1", "2" ]
      , holds "X.above" (X.above b (X.natural 2)) [ "3" ]
      , holds "X.below" (X.below b (X.natural 2)) [ "2" ]
      , holds "X.equals" (X.equals a b) ([] : List Text)
      , holds "X.matches" (X.matches name "web-.*") [ "1", "3" ]
      , holds "X.all" (X.all [ ok, X.present a ]) [ "1" ]
      , holds "X.any" (X.any [ ok, X.present a ]) [ "1", "2", "3" ]
      , holds "X.not" (X.not ok) [ "2" ]
      , value "X.oneIf" (X.oneIf (X.equals name (X.text "db-1"))) U.none [ "0", "0", "1" ]
      , value "X.when" (X.when ok a) U.none [ "7" ]
      , holds "X.present" (X.present a) [ "1", "2" ]
      , holds "X.absent" (X.absent a) [ "3" ]
      , value "X.orElse" (X.orElse a b) U.none [ "-7", "3", "7" ]
      , value "X.firstPresent" (X.firstPresent [ a, b ]) U.none [ "-7", "3", "7" ]
      , holds "X.nothing" X.nothing [ "1", "2", "3" ]
      , value "S.orElse" (S.orElse a (X.natural 0)) U.none [ "-7", "0", "7" ]
      , value "S.source.constant" (S.source.constant constant.parts) U.none [ "3", "3", "3" ]
      ]
    : List case.Case
