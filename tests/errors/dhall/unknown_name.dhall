let baseline = 1

in  { value = basline }
