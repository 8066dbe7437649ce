{ id = "a", merge = 1 }
