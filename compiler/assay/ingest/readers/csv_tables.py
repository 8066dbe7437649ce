"""The tables of a run while they are read, and their rows: events or malformed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sqlglot import exp

from assay.ingest import sql_trees
from assay.ingest.discovery import HostFiles, RunFiles
from assay.ingest.event_forms import NumberedForm
from assay.ingest.quarantine import MalformedRecord
from assay.ingest.readers import csv_text
from assay.lang.model.package import Source
from assay.sql.dialect import build_column

if TYPE_CHECKING:
    import duckdb

ROWS = "rows"


class TableFormat(Protocol):
    """Format of files; `plain` is the uncompressed content of a file."""

    def read_header(self, path: Path, plain: Path, /) -> tuple[str, ...]:
        """Return the names of its columns."""

    def write_repaired_copy(self, path: Path, plain: Path, copy: Path, /) -> list[csv_text.Record]:
        """Write a copy for the engine with row numbers; return the malformed records, which are left out."""

    def find_records(self, path: Path, plain: Path, numbers: Sequence[int], /) -> dict[int, csv_text.Record]:
        """Return some rows by their numbers."""

    def find_unterminated_column(self, plain: Path, columns: Sequence[str], /) -> str:
        """Return the column of the last value of a file without a final line end, else an empty text."""


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file of a run: its host, its index among files of the host, its uncompressed content, its columns."""

    host: HostFiles
    order: int
    path: Path
    plain: Path
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MalformedRow:
    """A malformed row: host, `seq` and event. The event is empty if the row is malformed for all events."""

    host: str
    seq: int
    event: str


@dataclass(slots=True)
class Tables:
    """State of reading the tables of a run into one table of the engine, with the required columns."""

    connection: duckdb.DuckDBPyConnection
    source: Source
    files: RunFiles
    folder: Path
    events: Mapping[str, NumberedForm]
    table_format: TableFormat
    message_words: tuple[str, str]
    malformed: list[MalformedRecord] = field(default_factory=list)
    malformed_counts: dict[str, int] = field(default_factory=dict)
    last_malformed: dict[Path, int] = field(default_factory=dict)

    @property
    def required_columns(self) -> tuple[str, ...]:
        """Return the columns that are read, without duplicates, those of the instant first."""
        field_columns = (path[0] for item in self.events.values() for path in item.paths)
        return tuple(dict.fromkeys([*self.source.time, *field_columns]))

    @property
    def verbatim_columns(self) -> tuple[str, ...]:
        """Return the columns whose cells are used as text.

        Only these are checked for invalid text, which no number, boolean or instant contains.
        """
        items = [item for form in self.events.values() for item in form.fields]
        return tuple({path[0]: 0 for item in items for path in item.paths if item.type == "text" or item.transforms})


def is_event_row(tables: Tables) -> exp.Expr:
    """Return the condition that a row may be an event: it is sound, and has an instant if the source has any."""
    return (
        exp.and_(build_column("sound"), sql_trees.is_not_null(build_column("t_ns")))
        if tables.source.time
        else build_column("sound")
    )


def get_relative_path(tables: Tables, file: TableFile) -> str:
    return file.path.relative_to(tables.files.directory).as_posix()
