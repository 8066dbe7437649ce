"""Implement the commands over a session; the command line only prints their results."""
