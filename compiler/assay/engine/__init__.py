"""Runs plans over ingested events, and keeps what was made: DuckDB embedded; results as exact numbers."""
