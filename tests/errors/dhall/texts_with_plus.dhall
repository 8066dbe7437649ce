let wait = "first"

in  "Time until " + wait
