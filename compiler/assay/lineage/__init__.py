"""Trace where values come from: columns, rows, records, cells."""
