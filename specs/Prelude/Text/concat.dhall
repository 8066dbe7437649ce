-- Join texts.
let concat
    : List Text -> Text
    = \(texts : List Text) ->
        List/fold Text texts Text (\(text : Text) -> \(rest : Text) -> text ++ rest) ""

let example = assert : concat [ "a", "b", "c" ] === "abc"

in  concat
