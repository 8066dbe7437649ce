let add = \(left : Natural) -> \(right : Natural) -> left + right

let example = assert : add 1 2 === 4

in  add 2 3
