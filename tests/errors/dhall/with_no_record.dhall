let r = { a = 1 }

in  r with a.b = 2
