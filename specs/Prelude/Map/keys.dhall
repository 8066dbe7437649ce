-- The keys of a map.
let keys
    : forall (key : Type) ->
      forall (value : Type) ->
      List { mapKey : key, mapValue : value } ->
        List key
    = \(key : Type) ->
      \(value : Type) ->
        ../List/map.dhall
          { mapKey : key, mapValue : value }
          key
          (\(entry : { mapKey : key, mapValue : value }) -> entry.mapKey)

let example = assert : keys Text Natural (toMap { a = 1, b = 2 }) === [ "a", "b" ]

in  keys
