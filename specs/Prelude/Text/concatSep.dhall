-- Join texts, with a separator between them.
let concatSep
    : Text -> List Text -> Text
    = \(separator : Text) ->
      \(texts : List Text) ->
        merge
          { None = "", Some = \(joined : Text) -> joined }
          ( List/fold
              Text
              texts
              (Optional Text)
              ( \(text : Text) ->
                \(rest : Optional Text) ->
                  merge
                    { None = Some text
                    , Some = \(joined : Text) -> Some (text ++ separator ++ joined)
                    }
                    rest
              )
              (None Text)
          )

let example = assert : concatSep ", " [ "a", "", "c" ] === "a, , c"

in  concatSep
