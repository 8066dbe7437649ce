"""The tables of a worker that the engine fills: lines of files that the scanner does not read, and lines set aside."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.ingest.chunks import LogFile
from assay.ingest.event_forms import wanted_events
from assay.ingest.line_counts import Share, share_of
from assay.ingest.plain_copies import may_scan
from assay.ingest.readers.duplicate_keys import SMALL
from assay.ingest.readers.json_lines_sql import parameters, recognition
from assay.ingest.readers.lines import refusals, scanned, set_aside
from assay.ingest.recognition import Recognition
from assay.ingest.scanner import Rows
from assay.sql import dialect

if TYPE_CHECKING:
    import duckdb

Paths = Callable[[], Sequence[Path]]


@dataclass(frozen=True)
class Tables:
    """How a worker's tables are filled, and what they are called: that of lines of files, that of lines that the
    scanner set aside, and the view of these."""

    how: Recognition
    lines: str
    aside: str
    given: str

    @cached_property
    def swift(self) -> str:
        """The statement that fills the table of lines, and fails where a line within braces is no JSON."""
        return _created(self.lines, recognition(self.how, careful=False))

    @cached_property
    def careful(self) -> str:
        """The statement for files that hold such lines."""
        return _created(self.lines, recognition(self.how, careful=True))

    @cached_property
    def recognised(self) -> str:
        """The statement for lines that were set aside."""
        return _created(self.aside, recognition(self.how, careful=True, lines=set_aside(self.given)))

    def fill(
        self, connection: duckdb.DuckDBPyConnection, files: Sequence[LogFile], paths: Sequence[Path], mended: Paths
    ) -> Share:
        """Fill the table of lines: swiftly; if that fails with care; if that fails, out of `mended` copies.  `paths`
        are where the texts of files are; what they come to."""
        self._fill(connection, files, paths, mended)
        return share_of(connection, self.lines, files, twice=True)

    def _fill(
        self, connection: duckdb.DuckDBPyConnection, files: Sequence[LogFile], paths: Sequence[Path], mended: Paths
    ) -> None:
        failed = refusals()
        if not all(map(may_scan, paths)):
            return self._run(connection, self.careful, files, scanned(mended()))
        try:
            return self._run(connection, self.swift, files, scanned(paths))
        except failed:
            careful = self.careful
        try:
            return self._run(connection, careful, files, scanned(paths))
        except failed:
            copies = mended()
        return self._run(connection, careful, files, scanned(copies))

    def set_aside(
        self, connection: duckdb.DuckDBPyConnection, files: Sequence[LogFile], rows: Rows
    ) -> tuple[Share, tuple[int, ...]]:
        """Recognise lines that the scanner set aside; what they come to, and where each stands in its file."""
        connection.register(self.given, rows)
        try:
            self._run(connection, self.recognised, files, {})
            query = dialect.text(exp.select("place").from_(self.given))
            places = tuple(place for (place,) in connection.execute(query).fetchall())
        finally:
            connection.unregister(self.given)
        return share_of(connection, self.aside, files, twice=True, places=places), places

    def _run(
        self,
        connection: duckdb.DuckDBPyConnection,
        text: str,
        files: Sequence[LogFile],
        given: Mapping[str, object],
    ) -> None:
        """Execute a statement that recognises lines of files."""
        small = [file.held.size <= SMALL for file in files]
        asked = {"small": small, "some": any(small)} if wanted_events(self.how.forms) else {}
        connection.execute(text, {**parameters(self.how), **given, **asked})


def _created(table: str, query: exp.Select) -> str:
    creation = exp.Create(this=exp.to_table(table), kind="TABLE", expression=query)
    return creation.sql(dialect=dialect.DIALECT, copy=False)
