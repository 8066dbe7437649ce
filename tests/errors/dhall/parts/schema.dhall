-- Words that the bad files use.
let Instant = { name : Text, after : Natural }

let Measure = { from : List Instant, to : Instant, otherwise : Double }

let Metric =
      { Type = { id : Text, doc : Text, unit : Text, measure : Measure }, default = { unit = "s" } }

let Number = < Natural | Integer | Text : Text >

in  { Instant
    , Measure
    , Metric
    , Number
    , at = { started = { name = "started", after = 0 }, ticked = { name = "ticked", after = 1 } }
    , elapsed = \(m : { from : List Instant, to : Instant }) -> m // { otherwise = 0.0 }
    , orElse = \(value : Double) -> \(m : Measure) -> m // { otherwise = value }
    }
