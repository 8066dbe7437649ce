{ name = "x", make = { twice = \(n : Natural) -> n + n } }
