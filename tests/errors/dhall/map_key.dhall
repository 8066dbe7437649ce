[ { mapKey = 1, mapValue = "one" } ]
