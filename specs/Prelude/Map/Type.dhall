-- The type of a map: the list of its entries, as `toMap` makes it.
let Map
    : Type -> Type -> Type
    = \(key : Type) -> \(value : Type) -> List { mapKey : key, mapValue : value }

let example = toMap { a = 1 } : Map Text Natural

in  Map
