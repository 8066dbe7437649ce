{ names = [ "a", "b" ] # [] }
