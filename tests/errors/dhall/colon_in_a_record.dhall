{ id = "a", forms = [ { name : "v1" } ] }
