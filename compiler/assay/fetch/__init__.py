"""Raw data from servers: what a run needs and no file holds yet."""
