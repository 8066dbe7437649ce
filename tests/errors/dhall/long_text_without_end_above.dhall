{ doc =
    ''
    several lines
, name = "plain"
, more =
    ''
    it's
    ''
}
