let Filter = { Type = { name : Text, doc : Text }, default.doc = "" }

in  [ { name = "full", doc = "" } : Filter ]
