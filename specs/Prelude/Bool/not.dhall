-- The opposite of a Bool.
let not
    : Bool -> Bool
    = \(bool : Bool) -> bool == False

let example = assert : not True === False

in  not
