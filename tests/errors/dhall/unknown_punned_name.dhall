let started = 1

in  { started, stopped = 2, tiked }
