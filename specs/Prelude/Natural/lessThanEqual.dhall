-- Whether a number is at most another.
let lessThanEqual
    : Natural -> Natural -> Bool
    = \(left : Natural) -> \(right : Natural) -> Natural/isZero (Natural/subtract right left)

let example = assert : lessThanEqual 2 2 === True

in  lessThanEqual
