{ id = "a"
, doc =
}
