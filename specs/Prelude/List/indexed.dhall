-- Every item with its position, from 0.
let example = assert : List/indexed Text [ "a" ] === [ { index = 0, value = "a" } ]

in  List/indexed
