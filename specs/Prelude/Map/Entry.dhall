-- The type of an entry of a map.
let Entry
    : Type -> Type -> Type
    = \(key : Type) -> \(value : Type) -> { mapKey : key, mapValue : value }

let example = { mapKey = "a", mapValue = 1 } : Entry Text Natural

in  Entry
