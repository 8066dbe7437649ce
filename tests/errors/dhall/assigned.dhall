let size := 3

in  size
