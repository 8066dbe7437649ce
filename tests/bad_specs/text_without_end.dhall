{ id = "a
}
