"""Back end: a step to a sqlglot tree, and a tree to text.  Knows nothing of files."""
