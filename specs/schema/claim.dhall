-- Claims: what a document says of the cells of a table.

-- A cell as it is published: the values of its row and of its column, and the number as it is printed.
let Cell = { down : Text, across : Text, value : Text }

-- What a `document` says that a pivot (by its title) has of a run, which is called `run` in it.
--   statement  which of its tables says so, or in which words
let Claim = { document : Text, statement : Text, run : Text, pivot : Text, cells : List Cell }

in  { Cell
    , Claim
    , cell =
        \(down : Natural) -> \(across : Natural) -> \(value : Text) ->
          { down = Natural/show down, across = Natural/show across, value } : Cell
    }
