"""Names that the compiler gives: to tables, queries, columns and checks of its own.  Specs cannot give them."""

from __future__ import annotations

import re

#: the check of every relation that no two of its rows have one key
KEY = "duplicate-key"
#: the table of one row that has the run's constants
CONSTANTS = "constants"
#: what rows are called while other tables are bound to them
BASE = "base"
#: the column that tells whether filters let a row through
ACCEPTED = "accepted"

#: queries that are parts of others: they would hide a table of the same name
_QUERIES = re.compile(
    rf"{BASE}|bound|computed_\d+|accepted_rows|holding"  # grains
    r"|steps|gaps|terms|(?:samples|read|known|term)_\d+(?:_[a-z]+)*"  # series
    r"|samples|ordered|averaged|distributions?|domain"  # distributions
)
#: columns that are added to those of a grain
_COLUMNS = re.compile(rf"{ACCEPTED}|passes_\d+")


def rows_name(grain: str) -> str:
    """Name of a grain's table before filters."""
    return f"{grain}_rows"


def is_query(name: str) -> bool:
    """Whether a table of this name would be taken for something of the compiler's, or hidden by it."""
    return name.lower() == CONSTANTS or bool(_QUERIES.fullmatch(name.lower()))


def is_column(name: str) -> bool:
    """Whether a grain has a column of this name beside those that it declares."""
    return bool(_COLUMNS.fullmatch(name.lower()))
