"""Follow numbers back: `assay explain`, `assay trace`, `assay verify`, `assay spec-diff`, the catalogue."""
