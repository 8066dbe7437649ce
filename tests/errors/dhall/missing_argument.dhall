let first = \(name : Text) -> \(doc : Text) -> { name, doc, fields = [] : List Text }

in  first "sent" // { fields = [ "bytes" ] }
