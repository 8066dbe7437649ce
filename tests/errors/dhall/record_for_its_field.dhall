let metric = \(m : { id : Text, grain : Text, rows : List { name : Text } }) -> m

let grain = { name = "block", key = 1 }

let both = { grain, rows = [ grain.{ name } ], short = "b", long = "block" }

in  { one = metric { id = "a", grain, rows = both }, other = metric { id = both, grain = both.grain, rows = both.rows } }
