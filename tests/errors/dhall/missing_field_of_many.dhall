let Long =
      { Type = { id : Text, doc : Text, first : Text, second : Text, third : Text, fourth : Text, fifth : Text, rows : List Text, sixth : Natural, seventh : Text, eighth : Text, ninth : Text }
      , default = { doc = "", second = "", third = "", fourth = "", fifth = "", seventh = "", eighth = "", ninth = "" }
      }

in  Long::{ id = "long", sixth = 6 }
