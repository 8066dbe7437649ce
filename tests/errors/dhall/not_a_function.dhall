let first = 1

let second = 2

in  [ first second ]
