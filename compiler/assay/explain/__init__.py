"""Facts about a metric or series, and their wording."""
