let size = { value = 3 }

# Sizes of the run
let other = 4

in  size
