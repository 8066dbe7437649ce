let add = \(left : Natural) -> \(right : Natural) -> left + right

in  add
      1
      2.5
