{ ticked = 1, started = 2 }
