-- Apply a function to what an Optional holds.
let map
    : forall (a : Type) -> forall (b : Type) -> (a -> b) -> Optional a -> Optional b
    = \(a : Type) ->
      \(b : Type) ->
      \(f : a -> b) ->
      \(optional : Optional a) ->
        merge { None = None b, Some = \(value : a) -> Some (f value) } optional

let example = assert : map Natural Bool Natural/even (Some 3) === Some False

in  map
