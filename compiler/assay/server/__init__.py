"""Local web pages: the site of `assay serve`, and the live report of `assay watch --serve`. They change nothing."""
