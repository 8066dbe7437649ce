-- Whether a number is greater than another.
let greaterThan
    : Natural -> Natural -> Bool
    = \(left : Natural) -> \(right : Natural) -> Natural/isZero (Natural/subtract right left) == False

let example = assert : greaterThan 2 2 === False

in  greaterThan
