"""Define the parts of a package as frozen dataclasses."""
