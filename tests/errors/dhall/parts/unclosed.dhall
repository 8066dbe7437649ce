let value = 1

in  [ value
    , 2
