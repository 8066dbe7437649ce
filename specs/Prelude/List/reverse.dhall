-- A list from its end to its beginning.
let example = assert : List/reverse Natural [ 1, 2 ] === [ 2, 1 ]

in  List/reverse
