let height = E.height

let E = { height = 1 }

in  height
