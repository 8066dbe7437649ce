"""Draft what is said of printed changes, and check what authors make of it.

`printed_changes` reads the cells of documents, `statements` applies rules to them, `sentences` writes them down with
quotes of cells (`cell_quotes`), `draft` builds the part of a report, `check_prose` checks edited sentences.
"""
