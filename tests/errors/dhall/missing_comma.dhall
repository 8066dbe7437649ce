{ id = "a"
  doc = "b"
}
