"""Parse the command line and print results."""
