"""Compute what a report, a query or a comparison needs of each run."""
