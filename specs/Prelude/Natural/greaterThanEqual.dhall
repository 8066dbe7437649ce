-- Whether a number is at least another.
let greaterThanEqual
    : Natural -> Natural -> Bool
    = \(left : Natural) -> \(right : Natural) -> Natural/isZero (Natural/subtract left right)

let example = assert : greaterThanEqual 1 2 === False

in  greaterThanEqual
