{ id = "a"
, doc = "b"
, id = "c"
}
