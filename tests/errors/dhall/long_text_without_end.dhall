{ doc =
    ''
    several lines
}
