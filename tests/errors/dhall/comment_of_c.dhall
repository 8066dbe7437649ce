let size = 3

// the value of it
let other = 4

in  size
