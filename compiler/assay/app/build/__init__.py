"""Build reports: `assay build`, `assay watch`, `assay regenerate`, and what they print."""
