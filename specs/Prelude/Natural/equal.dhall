-- Whether two numbers are equal.
let equal
    : Natural -> Natural -> Bool
    = \(left : Natural) -> \(right : Natural) -> Natural/isZero (Natural/subtract left right) && Natural/isZero (Natural/subtract right left)

let example = assert : equal 3 3 === True

in  equal
