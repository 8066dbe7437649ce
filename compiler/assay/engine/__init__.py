"""Run plans over ingested events in an embedded DuckDB, and cache the results, which are exact numbers."""
