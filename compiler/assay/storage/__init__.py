"""Files that are there whole or not at all, whatever happens to the process that writes them."""
