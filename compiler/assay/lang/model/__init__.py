"""What a package consists of, as frozen dataclasses."""
