-- An entry of a map whose keys are texts, with its key before its value.
let keyText =
      \(key : Text) ->
      \(value : Text) ->
        { mapKey = key, mapValue = value }

let example = assert : keyText "a" "b" === { mapKey = "a", mapValue = "b" }

in  keyText
