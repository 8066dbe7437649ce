-- Whether a number is less than another.
let lessThan
    : Natural -> Natural -> Bool
    = \(left : Natural) -> \(right : Natural) -> Natural/isZero (Natural/subtract left right) == False

let example = assert : lessThan 1 2 === True

in  lessThan
