-- Whether a function yields True for every item.
let all
    : forall (a : Type) -> (a -> Bool) -> List a -> Bool
    = \(a : Type) ->
      \(f : a -> Bool) ->
      \(items : List a) ->
        List/fold a items Bool (\(item : a) -> \(rest : Bool) -> f item && rest) True

let example = assert : all Natural Natural/even [ 1, 2 ] === False

in  all
