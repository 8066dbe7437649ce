"""Names of the compiler's own tables, queries, columns and checks.  Specs cannot use them."""

from __future__ import annotations

import re
from collections.abc import Collection

from assay.lang.model.source_kinds import SOURCE_KINDS

#: code of the check that rows of a relation have distinct keys
KEY = "duplicate-key"
#: table with one row: the constants of the run
CONSTANTS = "constants"
#: file with the constants in an exported folder
CONSTANTS_FILE = "constants.parquet"
#: alias of the rows of a grain while other tables are joined to them
BASE = "base"
#: column of a grain: true where the filters accept the row
ACCEPTED = "accepted"

#: names of subqueries that read grains, or that grains are computed with: they would hide a table of that name
_QUERIES = re.compile(
    rf"{BASE}|bound|computed_\d+|accepted_rows|holding|finer_\d+"  # grains
    r"|samples|ordered|averaged|distributions?|domain"  # distributions
)
#: names of subqueries of series, which read events, relations and other series, but no grains
_SERIES_QUERIES = re.compile(r"steps|gaps|terms|(?:samples|read|known|term)_\d+(?:_[a-z]+)*")
#: columns of events besides their fields: host, number of the record, time
INSTANT = "t_ns"
KEYS = ("host", "seq", INSTANT)
#: samples also have the series that each belongs to: several series may agree in all labels that are read
SERIES = "series"
SAMPLE_KEYS = (*KEYS, SERIES)
#: columns of events, including those that only ingest uses
EVENTS = frozenset((*KEYS, "whole", "form"))
#: columns that the compiler adds to a grain
_COLUMNS = re.compile(rf"{ACCEPTED}|passes_\d+")
#: columns of samples, besides those that identify the sample
_SAMPLES = re.compile(r"value|per")
#: columns of the queries between samples and readings of a series, besides labels and the key of windows
READINGS = frozenset(
    (
        "t_ns", "value", "sampled_ns", "ended",
        "before", "step", "reset", "samples", "first_ns", "last_ns", "first_value", "last_value", "resets",
        "increase", "span", "gap", "lead", "trail", "head", "tail",
    )
)  # fmt: skip


def get_default_mark(field: str) -> str:
    """Return the name of the column that is true where a field has its default in place of a value."""
    return f"{field}__default"


def get_rows_name(grain: str) -> str:
    """Return the name of the table with a grain's rows before filters."""
    return f"{grain}_rows"


def is_reserved_table(name: str, is_grain: bool = False) -> bool:
    """Return whether a table of this name would collide with a table or query of the compiler."""
    name = name.lower()
    return name == CONSTANTS or bool(_QUERIES.fullmatch(name) or (not is_grain and _SERIES_QUERIES.fullmatch(name)))


def is_grain_column(name: str) -> bool:
    """Return whether the compiler adds a column of this name to grains."""
    return bool(_COLUMNS.fullmatch(name.lower()))


def get_key_columns(kind: str) -> tuple[str, ...]:
    """Return the columns that events of a kind of source have besides their fields."""
    return SAMPLE_KEYS if kind in SOURCE_KINDS and SOURCE_KINDS[kind].has_series else KEYS


def is_event_column(name: str, kind: str) -> bool:
    """Return whether a field of this name would collide with another column of events of a kind of source."""
    return name.lower() in {*EVENTS, *get_key_columns(kind)}


def is_sample_column(name: str) -> bool:
    """Return whether a column of this name would collide with one of samples."""
    return bool(_SAMPLES.fullmatch(name.lower()))


def is_reading_column(name: str) -> bool:
    """Return whether a label of this name would collide with a column of the queries of a series."""
    return name.lower() in READINGS


def choose_free_name(name: str, used_names: Collection[str]) -> str:
    """Return a name for a column of the compiler that is not in `used_names`: `name`, with as many `_` as needed."""
    lowercase = {item.lower() for item in used_names}
    while name in lowercase:
        name += "_"
    return name
