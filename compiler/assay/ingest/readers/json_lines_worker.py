"""A worker: it reads a share of the files into tables and scans, from which the rows of events are selected.

If the scanner (`assay.ingest.scanner`) is available, it reads plain lines. The lines that it sets aside, and the files
that it does not read, become tables of recognized lines.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.ingest import scanner
from assay.ingest.chunks import LogFile
from assay.ingest.event_forms import TEXT, NumberedForm
from assay.ingest.line_counts import (
    FileCounts,
    LineCount,
    build_unreadable_error,
    compute_offset,
    count_lines,
    merge_counts,
    select_files,
)
from assay.ingest.output_folder import Cursor, Engine, is_engine_error
from assay.ingest.plain_copies import can_scan, create_repaired_copy, decompress_file, join_small_files
from assay.ingest.readers.json_lines_sql import build_query_parameters, build_recognition_query
from assay.ingest.readers.lines import build_aside_lines, build_scan_parameters, build_scan_query, list_scan_errors
from assay.ingest.recognition import Recognition
from assay.ingest.scanner import FilePart, ScanRows, encode_files, encode_lines
from assay.ingest.unknown_records import UnknownTally
from assay.sql import dialect
from assay.util.os_errors import is_disk_full_error

if TYPE_CHECKING:
    import duckdb

Paths = Callable[[], Sequence[Path]]

#: bytes of the rows of the scanners of all workers; unlike the rows of the engine, they cannot be spilled to disk
SCANNER_MEMORY = 320 * 2**20
NO_END = 2**62


@dataclass(frozen=True, slots=True)
class Part:
    """Rows of an event: in a table of recognized lines, or in a view of plain lines of the scanner.

    `number` is the suffix of its parameters: `$hosts_<number>` and `$offsets_<number>` have an item for each file. For
    a table of `is_odd` lines, `$places_<number>` has the place of each row in its file.
    """

    number: int
    table: str
    is_scanned: bool = False
    is_odd: bool = False


@dataclass(frozen=True)
class Tables:
    """The tables of a worker: recognized lines of files, recognized lines that the scanner set aside, and a view of the
    latter before they are recognized.
    """

    recognition: Recognition
    lines_table: str
    aside_table: str
    aside_view: str

    @cached_property
    def fast_statement(self) -> str:
        """Return the statement that fills the table of lines, and fails if a line within braces is not JSON."""
        return _build_create_table(self.lines_table, build_recognition_query(self.recognition, is_strict=False))

    @cached_property
    def strict_statement(self) -> str:
        """Return the statement that fills the table of lines, also if a line within braces is not JSON."""
        return _build_create_table(self.lines_table, build_recognition_query(self.recognition, is_strict=True))

    @cached_property
    def joined_statement(self) -> str:
        """Return the strict statement for a file that joins several."""
        lines = build_scan_query(is_joined=True)
        return _build_create_table(self.lines_table, build_recognition_query(self.recognition, True, lines))

    @cached_property
    def aside_statement(self) -> str:
        """Return the statement that fills the table of lines that were set aside."""
        return _build_create_table(
            self.aside_table,
            build_recognition_query(self.recognition, is_strict=True, lines=build_aside_lines(self.aside_view)),
        )

    def fill(
        self,
        connection: duckdb.DuckDBPyConnection,
        files: Sequence[LogFile],
        paths: Sequence[Path],
        joined: Path | None,
        write_copies: Paths,
    ) -> FileCounts:
        """Fill the table of lines; return the counts. `paths` are the plain files, `joined` a file of their lines.

        If the fast statement fails, use the strict one; if this fails, too, use it on the copies of `write_copies`.
        """
        self._fill(connection, paths, joined, write_copies)
        return count_lines(connection, self.lines_table, files)

    def _fill(
        self,
        connection: duckdb.DuckDBPyConnection,
        paths: Sequence[Path],
        joined: Path | None,
        write_copies: Paths,
    ) -> None:
        errors = list_scan_errors()
        if joined:
            with contextlib.suppress(*errors):
                return self._execute(connection, self.joined_statement, build_scan_parameters([joined]))
        if not all(map(can_scan, paths)):
            return self._execute(connection, self.strict_statement, build_scan_parameters(write_copies()))
        try:
            return self._execute(connection, self.fast_statement, build_scan_parameters(paths))
        except errors:
            statement = self.strict_statement
        try:
            return self._execute(connection, statement, build_scan_parameters(paths))
        except errors:
            copies = write_copies()
        return self._execute(connection, statement, build_scan_parameters(copies))

    def recognize_aside_lines(
        self, connection: duckdb.DuckDBPyConnection, files: Sequence[LogFile], rows: ScanRows
    ) -> tuple[FileCounts, tuple[int, ...]]:
        """Recognize lines that the scanner set aside; return the counts, and the place of each in its file."""
        connection.register(self.aside_view, rows)
        try:
            self._execute(connection, self.aside_statement, {})
            query = dialect.to_sql(exp.select("place").from_(self.aside_view))
            places = tuple(place for (place,) in connection.execute(query).fetchall())
        finally:
            connection.unregister(self.aside_view)
        return count_lines(connection, self.aside_table, files, places=places), places

    def _execute(self, connection: duckdb.DuckDBPyConnection, statement: str, parameters: Mapping[str, object]) -> None:
        """Execute a statement that recognizes lines."""
        connection.execute(statement, {**build_query_parameters(self.recognition), **parameters})


def _build_create_table(table: str, query: exp.Select) -> str:
    creation = exp.Create(this=exp.to_table(table), kind="TABLE", expression=query)
    return creation.sql(dialect=dialect.DIALECT, copy=False)


@dataclass(frozen=True)
class WorkerSettings:
    """Settings of a worker: recognition, number, message for the scanner, and maximal bytes of rows of the scanner."""

    recognition: Recognition
    number: int
    scanner_message: bytes | None
    max_row_bytes: int

    @property
    def lines_table(self) -> str:
        """Return the table of lines of files that the scanner does not read."""
        return f"rows_{self.number}"

    @property
    def aside_table(self) -> str:
        """Return the table of lines that the scanner set aside."""
        return f"aside_{self.number}"

    @cached_property
    def tables(self) -> Tables:
        """Return the tables of the worker."""
        return Tables(self.recognition, self.lines_table, self.aside_table, f"aside_lines_{self.number}")


@dataclass(frozen=True, slots=True)
class ScanResult:
    """Files that were read in one way, with their counts.

    `table` has the recognized lines, or only those that the scanner set aside, with `places` in their files. Rows
    refer to a file by its item in `indices`. `aside_forms` are the forms of lines that were set aside.
    """

    files: tuple[LogFile, ...]
    indices: tuple[int, ...]
    counts: FileCounts
    table: str = ""
    places: tuple[int, ...] | None = None
    scan: scanner.Scan | None = None
    aside_forms: frozenset[int] = frozenset()

    @property
    def extent(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return the positions of the first and the last file or chunk in the run."""
        first, last = self.files[0], self.files[-1]
        return (first.number, first.begin), (last.number, last.begin)

    def list_parts(self, number: int, index: int, forms: Sequence[NumberedForm]) -> list[Part]:
        """Return the parts with rows of an event, by its index among required events and its forms."""
        if self.scan is None:
            return [Part(number, self.table)]
        parts = [Part(number, f"scan_{number}", is_scanned=True)] if self.scan.event_counts[index] else []
        has_odd = any(item.number in self.aside_forms for item in forms)
        return parts + ([Part(number, self.table, is_odd=True)] if has_odd else [])

    def build_parameters(self, part: Part) -> dict[str, object]:
        """Return the parameters of a part."""
        hosts: list[str | None] = [None] * (self.indices[-1] + 1)
        offsets = [0] * (self.indices[-1] + 1)
        for index, host, offset in zip(self.indices, self.counts.hosts, self.counts.offsets, strict=True):
            hosts[index], offsets[index] = host, offset
        values: dict[str, object] = {f"hosts_{part.number}": hosts, f"offsets_{part.number}": offsets}
        return values | ({f"places_{part.number}": list(self.places or ())} if part.is_odd else {})


def create_worker_settings(recognition: Recognition, count: int, share: int = 1) -> list[WorkerSettings]:
    """Return the settings of `count` workers that share a part of the memory."""
    message = encode_lines(recognition) if scanner.is_available() else None
    return [WorkerSettings(recognition, number, message, SCANNER_MEMORY // (count * share)) for number in range(count)]


def read_log_files(
    engine: Engine, settings: WorkerSettings, files: Sequence[LogFile], folder: Path
) -> list[ScanResult]:
    """Read files, except those that are postponed since the rows of the others reach the limit.

    Raises AssayError if a file cannot be read to its end.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with closing(Cursor(engine)) as cursor:
            while (results := _Reading(cursor, settings, files, folder).read()) is None:
                # Some grew in the meantime. They are now read from copies, so each file causes at most one repetition.
                cursor.drop((settings.lines_table, settings.aside_table))
            return results
    except Exception as error:
        if not is_engine_error(error) or is_disk_full_error(error):
            raise
        raise build_unreadable_error(files, str(error).split("\n")[0]) from None
    finally:
        shutil.rmtree(folder)


@dataclass(slots=True)
class _Reading:
    """State of reading files; `plain` and `sources` are copies of files that are not read in place."""

    cursor: Cursor
    settings: WorkerSettings
    files: Sequence[LogFile]
    folder: Path
    plain: dict[int, Path] = field(default_factory=dict)
    sources: dict[int, Path] = field(default_factory=dict)

    def read(self) -> list[ScanResult] | None:
        """Return the results of the files; None if one changed while it was read in place."""
        scan = self.scan_files()
        everything = range(len(self.files))
        strange_files = [index for index in everything if scan is None or scan.files[index].is_strange]
        scanned_files = [
            index
            for index in everything
            if scan and not (scan.files[index].is_strange or scan.files[index].is_postponed)
        ]
        results = [self.read_scanned(scan, scanned_files)] if scan and scanned_files else []
        results += [self.recognize_files(strange_files)] if strange_files else []
        for file in (self.files[index] for index in (*scanned_files, *strange_files)):
            if file.end is not None and not file.unpacked:
                file.snapshot.check_unchanged()
        sources = [item for item in self.sources.items() if item[0] in {*scanned_files, *strange_files}]
        return results if all(self._is_unchanged(index, source) for index, source in sources) else None

    def _is_unchanged(self, index: int, source: Path) -> bool:
        file = self.files[index]
        return file.path != source or file.snapshot.is_steady

    def create_plain_file(self, index: int) -> Path:
        """Return a plain file with exactly the text of a file or chunk."""
        if index not in self.plain:
            file = self.files[index]
            self.sources[index] = file.get_readable_path(self.folder)
            self.plain[index] = decompress_file(self.sources[index], self.folder, f"{file.number}-{file.begin}.plain")
        return self.plain[index]

    def get_file_part(self, index: int) -> FilePart:
        """Return the part of a plain file that has the text of a file or chunk."""
        file = self.files[index]
        if file.end is not None:
            return FilePart((file.unpacked or file.snapshot).path, file.begin, file.end)
        text = self.create_plain_file(index)
        return FilePart(text, 0, file.snapshot.size if text == file.path else text.stat().st_size)

    def scan_files(self) -> scanner.Scan | None:
        """Scan the files; return None if the scanner is not available or does not support the recognition."""
        if self.settings.scanner_message is None:
            return None
        parts = [self.get_file_part(index) for index in range(len(self.files))]
        # No chunk may be postponed, since the line numbers of later chunks depend on its line count.
        max_row_bytes = self.settings.max_row_bytes if all(file.end is None for file in self.files) else NO_END
        return scanner.scan(encode_files(parts, max_row_bytes) + self.settings.scanner_message, len(parts))

    def read_scanned(self, scan: scanner.Scan, indices: Sequence[int]) -> ScanResult:
        """Return the result of files that the scanner reads."""
        counts = _count_plain_lines(self.files, scan)
        files = tuple(self.files[index] for index in indices)
        if not scan.odd_count:
            return ScanResult(files, tuple(indices), select_files(counts, indices), scan=scan)
        with closing(scan.get_rows(scanner.ODD)) as rows:
            aside, places = self.settings.tables.recognize_aside_lines(self.cursor.connection, self.files, rows)
        forms = frozenset(tally.form for tally in aside.tallies)
        all_counts = select_files(merge_counts(counts, aside), indices)
        return ScanResult(files, tuple(indices), all_counts, self.settings.aside_table, places, scan, forms)

    def recognize_files(self, indices: Sequence[int]) -> ScanResult:
        """Return the result of files that the engine reads."""
        files = tuple(self.files[index] for index in indices)
        paths = [self.create_plain_file(index) for index in indices]
        counts = self.settings.tables.fill(
            self.cursor.connection,
            files,
            paths,
            join_small_files(paths, self.folder / "joined"),
            lambda: self.write_repaired_copies(indices),
        )
        return ScanResult(files, tuple(range(len(files))), counts, self.settings.lines_table)

    def write_repaired_copies(self, indices: Sequence[int]) -> list[Path]:
        """Return copies of files that the engine always accepts."""
        named = [
            (self.create_plain_file(index), f"{self.files[index].number}-{self.files[index].begin}")
            for index in indices
        ]
        return [create_repaired_copy(path, self.folder, f"{name}.repaired")[0] for path, name in named]


def _count_plain_lines(files: Sequence[LogFile], scan: scanner.Scan) -> FileCounts:
    """Return the counts of plain lines."""
    tallies: list[LineCount] = []
    tally_files: list[int] = []
    lines = [0] * len(files)
    offsets = tuple(map(compute_offset, files))
    for index, (file, result) in enumerate(zip(files, scan.files, strict=True)):
        for item in result.tallies:
            first, last = item.first + offsets[index], item.last + offsets[index]
            timed = (None,) * 4 if item.form == TEXT else (first, item.first_ns, last, item.last_ns)
            tallies.append(LineCount(file.host, item.form, item.rows, first, last, *timed))
            tally_files.append(index)
            lines[index] += item.rows
    unknown = tuple(
        (index, UnknownTally(file.host, scan.names[item.name], item.rows, item.first + offsets[index]))
        for index, (file, result) in enumerate(zip(files, scan.files, strict=True))
        for item in result.unknown
    )
    hosts = tuple(file.host for file in files)
    return FileCounts(tuple(tallies), (), hosts, offsets, tuple(lines), tuple(tally_files), unknown=unknown)
