let defaults = { unit = "s", better = "lower" }

in  defaults /\ { id = "first", unit = "ms" }
