let Part = { Type = { title : Text, by : List Text, limit : Natural }, default = { by = [] : List Text, limit = 10 } }

let Other = { Type = { title : Text, limit : Natural }, default.limit = 10 }

let S = { Part, Other }

let size = \(part : S.Part.Type) -> part.limit

let plain = { title = "Sizes", by = [ "kind" ] }

in  { one = size { title = "Times" }
    , another = size plain
    , untitled = size { by = [] : List Text, limit = 1 }
    , hidden = \(S : Text) -> \(Part : Natural) -> size { title = S }
    , listed = [ { title = "Times" } ] : List Other.Type
    }
