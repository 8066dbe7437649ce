-- Claims: statements of a document about the cells of a table.

-- A published cell: the values of its row and its column, and the printed number.
let Cell = { down : Text, across : Text, value : Text }

-- The cells of a pivot (by its title) that a `document` states for a run with the label `run`.
--   statement  the table of the document, or its text
let Claim = { document : Text, statement : Text, run : Text, pivot : Text, cells : List Cell }

in  { Cell
    , Claim
    , cell =
        \(down : Natural) -> \(across : Natural) -> \(value : Text) ->
          { down = Natural/show down, across = Natural/show across, value } : Cell
    }
