"""Open a workspace: settings, runs, raw data that are ingested once, filters and phases."""
