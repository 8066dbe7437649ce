"""Turn results into documents, charts and output files; nothing here runs SQL."""
