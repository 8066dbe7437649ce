"""The tests and their helpers."""
