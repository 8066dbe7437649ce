"""Compare runs and recorded results without a report: `assay compare`, `assay gate`, histories and the registry."""
