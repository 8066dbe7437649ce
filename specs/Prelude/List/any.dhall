-- Whether a function yields True for one item or more.
let any
    : forall (a : Type) -> (a -> Bool) -> List a -> Bool
    = \(a : Type) ->
      \(f : a -> Bool) ->
      \(items : List a) ->
        List/fold a items Bool (\(item : a) -> \(rest : Bool) -> f item || rest) False

let example = assert : any Natural Natural/even [ 1, 2 ] === True

in  any
