-- Claims: statements of a document about the cells of a table.

-- A cell as it is published: the values of its row and of its column, and the number as it is printed.
let Cell = { down : Text, across : Text, value : Text }

-- The cells of a pivot (by its title) that a `document` states for a run, which it calls `run`.
--   statement  the table of the document, or its words
let Claim = { document : Text, statement : Text, run : Text, pivot : Text, cells : List Cell }

in  { Cell
    , Claim
    , cell =
        \(down : Natural) -> \(across : Natural) -> \(value : Text) ->
          { down = Natural/show down, across = Natural/show across, value } : Cell
    }
