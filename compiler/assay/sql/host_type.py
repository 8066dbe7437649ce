"""Hosts as numbers: an enumeration of a run's hosts, by which rows are written, sorted and joined faster than by names.

To a statement such a host is the text that it was: it compares, sorts and prints as that.
"""

from __future__ import annotations

from sqlglot import exp

from assay.sql import dialect

TYPE = "host_name"


def host_type(suffix: str = "") -> exp.DataType:
    """The type of such hosts; with `[]`, that of lists of them."""
    return exp.DataType.build(f"{TYPE}{suffix}", dialect=dialect.DIALECT, udt=True)


def enumeration(names: exp.Select) -> str:
    """The statement that makes the type, of a query of names, no two the same."""
    # The library of trees has none for types.
    return f"CREATE TYPE {TYPE} AS ENUM ({dialect.text(names)})"
