-- Whether all Bools of a list are True.
let and
    : List Bool -> Bool
    = \(bools : List Bool) ->
        List/fold Bool bools Bool (\(left : Bool) -> \(right : Bool) -> left && right) True

let example = assert : and [ True, False ] === False

in  and
