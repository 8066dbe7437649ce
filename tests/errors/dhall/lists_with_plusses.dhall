let names = [ "a", "b" ]

in  names ++ [ "c" ]
