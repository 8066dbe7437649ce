-- The larger of two numbers.
let max
    : Natural -> Natural -> Natural
    = \(left : Natural) -> \(right : Natural) -> if Natural/isZero (Natural/subtract right left) then right else left

let example = assert : max 3 5 === 5

in  max
