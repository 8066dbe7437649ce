"""Helpers of all tests: cases, workspaces, runs, the command line, and results as an analysis of the oracle."""
