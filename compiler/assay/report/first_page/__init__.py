"""The first page of a comparison: its headline, key changes and forest plot."""
