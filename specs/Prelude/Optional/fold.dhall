-- A function of what an Optional holds, or another value when it holds none.
let fold
    : forall (a : Type) ->
      Optional a ->
      forall (b : Type) ->
      (a -> b) ->
      b ->
        b
    = \(a : Type) ->
      \(optional : Optional a) ->
      \(b : Type) ->
      \(some : a -> b) ->
      \(none : b) ->
        merge { None = none, Some = some } optional

let example = assert : fold Natural (Some 2) Text Natural/show "none" === "2"

in  fold
