"""Differences of specs and of builds."""
