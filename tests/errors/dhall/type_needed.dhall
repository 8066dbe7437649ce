let size = 3

in  \(x : size) -> x
