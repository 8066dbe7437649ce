[ { id = "a", size = 1 }
, { id = "b", size = 2 }
, { id = "c", sise = 3 }
]
