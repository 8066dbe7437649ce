{ id = "a", doc = "in ${unit =} or ${"more"}" }
