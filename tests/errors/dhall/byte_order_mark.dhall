{ id = "a" }
