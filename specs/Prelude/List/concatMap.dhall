-- Apply a function that yields lists to every item, and join what it yields.
let concatMap
    : forall (a : Type) -> forall (b : Type) -> (a -> List b) -> List a -> List b
    = \(a : Type) ->
      \(b : Type) ->
      \(f : a -> List b) ->
      \(items : List a) ->
        List/fold
          a
          items
          (List b)
          (\(item : a) -> \(rest : List b) -> f item # rest)
          ([] : List b)

let example =
        assert
      :     concatMap Natural Natural (\(n : Natural) -> [ n, n * 10 ]) [ 1, 2 ]
        ===  [ 1, 10, 2, 20 ]

in  concatMap
