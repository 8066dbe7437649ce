"""Compile steps to sqlglot trees, and trees to SQL.  Nothing here reads or writes files."""
