{ id = "first"
, name = Time spent"
, doc = "and then env:HOME"
, more = "texts that do end"
}
