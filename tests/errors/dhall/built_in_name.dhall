let Type = { id : Text }

in  1
