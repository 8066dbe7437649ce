let metric = \(m : { id : Text, doc : Text, unit : Text }) -> m

in  metric { id = "first" }
