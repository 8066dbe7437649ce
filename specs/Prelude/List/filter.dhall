-- The items for which a function yields True.
let filter
    : forall (a : Type) -> (a -> Bool) -> List a -> List a
    = \(a : Type) ->
      \(isWanted : a -> Bool) ->
      \(items : List a) ->
        List/build
          a
          ( \(list : Type) ->
            \(cons : a -> list -> list) ->
              List/fold
                a
                items
                list
                ( \(item : a) ->
                  \(rest : list) ->
                    if isWanted item then cons item rest else rest
                )
          )

let example = assert : filter Natural Natural/even [ 1, 2, 3, 4 ] === [ 2, 4 ]

in  filter
