"""Raw records to events: finding a run's files, reading its constants, extracting its events to Parquet."""
