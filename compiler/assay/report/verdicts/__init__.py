"""Hold judged changes as results have them, and write them in words: for pages, gates, comments and tables."""
