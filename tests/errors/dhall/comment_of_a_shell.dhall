# Sizes: those of the run
let size = 3

in  size
