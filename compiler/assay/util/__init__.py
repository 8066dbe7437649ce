"""Files, locks, checksums, diagnostics and text, for every stage."""
