"""Names that the compiler gives: to tables, queries, columns and checks of its own.  Specs cannot give them."""

from __future__ import annotations

import re
from collections.abc import Collection

from assay.lang.model.source_kinds import SOURCE_KINDS

#: the check of every relation that no two of its rows have one key
KEY = "duplicate-key"
#: the table of one row that has the run's constants
CONSTANTS = "constants"
#: the file that has them, of a folder that is handed out
OWN_CONSTANTS = "constants.parquet"
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
#: columns that events have beside their fields: whose record it is, which of theirs, when it was
KEYS = ("host", "seq", "t_ns")
#: and samples, which of the series of the run each is of: those that agree in all labels that are read are several, too
SERIES = "series"
KEYS_OF_SAMPLES = (*KEYS, SERIES)
#: those that they have on the way there, too
EVENTS = frozenset((*KEYS, "whole", "form"))
#: columns that are added to those of a grain
_COLUMNS = re.compile(rf"{ACCEPTED}|passes_\d+")
#: columns of samples: beside them stand those that say which sample it is
_SAMPLES = re.compile(r"value|per")
#: columns that samples of series have on the way to what is read of them, beside the labels and the key of windows
READINGS = frozenset(
    (
        "t_ns", "value", "told", "ended",
        "before", "step", "reset", "samples", "first_ns", "last_ns", "first_value", "last_value", "resets",
        "increase", "span", "gap", "lead", "trail", "head", "tail",
    )
)  # fmt: skip


def default_mark(field: str) -> str:
    """Name of the column of an event's file that says whether a field's default stands in for its value."""
    return f"{field}__default"


def rows_name(grain: str) -> str:
    """Name of a grain's table before filters."""
    return f"{grain}_rows"


def is_query(name: str) -> bool:
    """Whether a table of this name would be taken for something of the compiler's, or hidden by it."""
    return name.lower() == CONSTANTS or bool(_QUERIES.fullmatch(name.lower()))


def is_column(name: str) -> bool:
    """Whether a grain has a column of this name beside those that it declares."""
    return bool(_COLUMNS.fullmatch(name.lower()))


def keys_of(kind: str) -> tuple[str, ...]:
    """The columns that events of a kind of source have beside their fields."""
    return KEYS_OF_SAMPLES if kind in SOURCE_KINDS and SOURCE_KINDS[kind].has_series else KEYS


def is_of_events(name: str, kind: str) -> bool:
    """Whether events of a kind of source have a column of this name beside their fields, so that no field can have
    it."""
    return name.lower() in {*EVENTS, *keys_of(kind)}


def is_of_samples(name: str) -> bool:
    """Whether samples have a column of this name, so that none can tell them apart by it."""
    return bool(_SAMPLES.fullmatch(name.lower()))


def is_of_readings(name: str) -> bool:
    """Whether a series has a column of this name on its way, so that no label of it can have it."""
    return name.lower() in READINGS


def free(name: str, taken: Collection[str]) -> str:
    """A name for a column of the compiler's own that is none of those `taken`: this one, or longer by as many `_`."""
    small = {item.lower() for item in taken}
    while name in small:
        name += "_"
    return name
