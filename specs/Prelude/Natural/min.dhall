-- The smaller of two numbers.
let min
    : Natural -> Natural -> Natural
    = \(left : Natural) -> \(right : Natural) -> if Natural/isZero (Natural/subtract right left) then left else right

let example = assert : min 3 5 === 3

in  min
