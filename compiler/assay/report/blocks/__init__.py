"""Blocks of a report: tables, plots, verdicts, claims."""
