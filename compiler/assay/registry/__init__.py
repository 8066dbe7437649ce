"""Registered runs and recorded results: files that need no logs."""
