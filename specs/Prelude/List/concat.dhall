-- Join lists into one.
let concat
    : forall (a : Type) -> List (List a) -> List a
    = \(a : Type) ->
      \(lists : List (List a)) ->
        List/fold
          (List a)
          lists
          (List a)
          (\(list : List a) -> \(rest : List a) -> list # rest)
          ([] : List a)

let example = assert : concat Natural [ [ 1 ], [ 2, 3 ] ] === [ 1, 2, 3 ]

in  concat
