-- What an Optional holds, or another value when it holds none.
let default
    : forall (a : Type) -> a -> Optional a -> a
    = \(a : Type) ->
      \(otherwise : a) ->
      \(optional : Optional a) ->
        merge { None = otherwise, Some = \(value : a) -> value } optional

let example = assert : default Natural 7 (None Natural) === 7

in  default
