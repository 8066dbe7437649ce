-- Apply a function to every item of a list.
let map
    : forall (a : Type) -> forall (b : Type) -> (a -> b) -> List a -> List b
    = \(a : Type) ->
      \(b : Type) ->
      \(f : a -> b) ->
      \(items : List a) ->
        List/build
          b
          ( \(list : Type) ->
            \(cons : b -> list -> list) ->
              List/fold a items list (\(item : a) -> cons (f item))
          )

let example = assert : map Natural Text Natural/show [ 1, 2 ] === [ "1", "2" ]

in  map
