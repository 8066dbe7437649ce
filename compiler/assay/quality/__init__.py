"""Quality of a run's data: what is missing in it, and which numbers that affects."""
