"""Assess the quality of a run's data: what is missing, and which numbers are affected."""
