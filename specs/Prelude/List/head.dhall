-- The first item, if there is one.
let example = assert : List/head Natural [ 1, 2 ] === Some 1

in  List/head
