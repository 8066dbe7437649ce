"""Measure how complete the data of runs are."""
