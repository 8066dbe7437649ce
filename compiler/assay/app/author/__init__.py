"""Help who writes specs: `assay init`, `assay check`, `assay test`, `assay slice`, `assay inspect`."""
