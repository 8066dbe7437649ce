-- Make texts of items, and join them with a separator between them.
let concatMapSep
    : Text -> forall (a : Type) -> (a -> Text) -> List a -> Text
    = \(separator : Text) ->
      \(a : Type) ->
      \(f : a -> Text) ->
      \(items : List a) ->
        ./concatSep.dhall separator (../List/map.dhall a Text f items)

let example = assert : concatMapSep "-" Natural Natural/show [ 1, 2 ] === "1-2"

in  concatMapSep
