"""Kinds of sources: the properties that the language and all later stages use.

The reader of a kind is in the module of `ingest/readers/` with the name of the kind.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourceKind:
    """The properties of a kind of source."""

    name: str
    files: str  # word for its files in messages
    records: str  # word for its records in messages
    nameless: str = ""  # word for a record without a name; it is a record of every event of its source
    is_log: bool = False  # a record is a line of at most one event, and lines are in order of time
    has_pairs: bool = False  # a record is a line of logfmt; names of events may end in `*`
    has_patterns: bool = False  # the names of events are patterns of lines
    has_lookups: bool = False  # the names of events are looked up at places of a record
    has_exclusions: bool = False  # an `unless` rules records of an event out
    has_series: bool = False  # records are samples of time series
    has_columns: bool = False  # a path of a field is the name of a column
    has_integer_times: bool = False  # an instant may be a whole number of ns without a time format
    has_alternative_times: bool = False  # an instant may be at several paths
    needs_time: bool = False
    needs_begin: bool = False  # a source needs `begins`, the key with which a record begins
    may_begin: bool = False  # a source may have `begins`, the first column of its header, above which lines stand


JSON_LINES = SourceKind(
    "json-lines",
    "logs",
    "log lines",
    is_log=True,
    has_lookups=True,
    has_exclusions=True,
    has_alternative_times=True,
    needs_time=True,
)
LOGFMT = SourceKind(
    "logfmt",
    "logs",
    "log lines",
    is_log=True,
    has_lookups=True,
    has_pairs=True,
    has_exclusions=True,
    has_alternative_times=True,
    needs_time=True,
)
TEXT_LINES = SourceKind("text-lines", "logs", "log lines", is_log=True, has_patterns=True)
RECORDS = SourceKind("json-records", "lists", "records", nameless="a record of a list", has_exclusions=True)
TABLES = SourceKind(
    "csv", "tables", "rows", nameless="a row of a table", has_columns=True, has_integer_times=True, may_begin=True
)
BLOCKS = SourceKind("blocks", "texts", "blocks", nameless="a block", has_integer_times=True, needs_begin=True)
SAMPLES = SourceKind("samples", "samples", "samples", has_exclusions=True, has_series=True)

SOURCE_KINDS = {kind.name: kind for kind in (JSON_LINES, LOGFMT, TEXT_LINES, RECORDS, TABLES, BLOCKS, SAMPLES)}
