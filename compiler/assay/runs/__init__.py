"""Runs as data: their names and directories, and what was ingested of them."""
