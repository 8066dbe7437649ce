"""What a build was made of: writing and reading its record."""
