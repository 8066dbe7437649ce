"""What stands behind a number: provenance of builds, catalogues of what there is."""
