"""Runs that are no directory here: on object storage, or in an archive.  They are mirrored into the cache."""
