-- Whether a list has no items.
let null
    : forall (a : Type) -> List a -> Bool
    = \(a : Type) -> \(items : List a) -> Natural/isZero (List/length a items)

let example = assert : null Natural ([] : List Natural) === True

in  null
