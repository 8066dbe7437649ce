let first = 1
    second = 2

in  first
