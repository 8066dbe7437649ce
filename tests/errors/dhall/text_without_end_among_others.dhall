{ id = "first"
, name = "Time until ${"it" ++ "began}
, doc = "see /etc/passwd"
, more = "an even number of quotes after the slip"
}
