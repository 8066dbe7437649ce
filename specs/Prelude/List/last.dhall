-- The last item, if there is one.
let example = assert : List/last Natural [ 1, 2 ] === Some 2

in  List/last
