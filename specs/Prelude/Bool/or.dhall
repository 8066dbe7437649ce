-- Whether one or more Bools of a list are True.
let or
    : List Bool -> Bool
    = \(bools : List Bool) ->
        List/fold Bool bools Bool (\(left : Bool) -> \(right : Bool) -> left || right) False

let example = assert : or [ True, False ] === True

in  or
