"""Readers of the kinds of sources."""
