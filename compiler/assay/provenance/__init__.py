"""Write and read the provenance of a build: its inputs, specs, versions and hashes."""
