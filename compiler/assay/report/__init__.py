"""Results -> document -> charts -> Typst, PDF.  Never runs SQL."""
