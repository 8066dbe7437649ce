-- The values of a map.
let values
    : forall (key : Type) ->
      forall (value : Type) ->
      List { mapKey : key, mapValue : value } ->
        List value
    = \(key : Type) ->
      \(value : Type) ->
        ../List/map.dhall
          { mapKey : key, mapValue : value }
          value
          (\(entry : { mapKey : key, mapValue : value }) -> entry.mapValue)

let example = assert : values Text Natural (toMap { a = 1, b = 2 }) === [ 1, 2 ]

in  values
