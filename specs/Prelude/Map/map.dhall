-- Apply a function to every value of a map.
let map
    : forall (key : Type) ->
      forall (a : Type) ->
      forall (b : Type) ->
      (a -> b) ->
      List { mapKey : key, mapValue : a } ->
        List { mapKey : key, mapValue : b }
    = \(key : Type) ->
      \(a : Type) ->
      \(b : Type) ->
      \(f : a -> b) ->
        ../List/map.dhall
          { mapKey : key, mapValue : a }
          { mapKey : key, mapValue : b }
          ( \(entry : { mapKey : key, mapValue : a }) ->
              { mapKey = entry.mapKey, mapValue = f entry.mapValue }
          )

let example =
        assert
      :     map Text Natural Bool Natural/even (toMap { a = 1, b = 2 })
        ===  toMap { a = False, b = True }

in  map
