-- How many items a list has.
let example = assert : List/length Text [ "a", "b" ] === 2

in  List/length
