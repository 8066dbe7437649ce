-- Whether an Optional holds nothing.
let null
    : forall (a : Type) -> Optional a -> Bool
    = \(a : Type) ->
      \(optional : Optional a) ->
        merge { None = True, Some = \(_ : a) -> False } optional

let example = assert : null Natural (Some 2) === False

in  null
