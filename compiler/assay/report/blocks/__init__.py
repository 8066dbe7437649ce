"""Blocks of a report: tables, plots, verdicts, claims.

A new kind of table or figure is a module here, which renders it, and one of the same name in `assay.lang.blocks`, which
declares it (CONTRIBUTING.md, "Adding a kind of table or figure"). `context` registers the renderers.
"""
