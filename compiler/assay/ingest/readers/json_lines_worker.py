"""A worker: it reads a share of the files into tables and scans that the rows of events are selected from.

The scanner (`assay.ingest.scanner`) reads plain lines, if it is available. Lines that it sets aside, and files that it
does not read, become tables of recognized lines.
"""

from __future__ import annotations

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
from assay.ingest.line_counts import LineCount, Share, offset_of, only, share_of, united, unreadable
from assay.ingest.plain_copies import may_scan, mended, plain
from assay.ingest.readers.json_lines_sql import parameters, recognition
from assay.ingest.readers.lines import refusals, scanned, set_aside
from assay.ingest.recognition import Recognition
from assay.ingest.scanner import FilePart, Rows, files_message, lines_message
from assay.ingest.unknown_records import UnknownTally
from assay.ingest.workspace_dir import Cursor, Engine, is_of_engine
from assay.sql import dialect
from assay.util.os_errors import is_full

if TYPE_CHECKING:
    import duckdb

Paths = Callable[[], Sequence[Path]]

#: bytes of rows of the scanners of all workers, which, unlike those of the engine, cannot be spilled to disk
HELD = 320 * 2**20
NO_END = 2**62


@dataclass(frozen=True, slots=True)
class Part:
    """Where rows of an event are: a table of recognized lines, or a view of plain lines of the scanner.

    `number` is the suffix of its parameters: `$hosts_<number>` and `$offsets_<number>` have an item for each file, and
    `$places_<number>`, for a table of `odd` lines, the place in its file of each row.
    """

    number: int
    table: str
    scanned: bool = False
    odd: bool = False


@dataclass(frozen=True)
class Tables:
    """The tables of a worker: `lines` of files, lines set `aside` by the scanner, and the view `given` of these."""

    how: Recognition
    lines: str
    aside: str
    given: str

    @cached_property
    def swift(self) -> str:
        """Return the statement that fills the table of lines, and fails if a line within braces is not JSON."""
        return _created(self.lines, recognition(self.how, careful=False))

    @cached_property
    def careful(self) -> str:
        """Return the statement for files with such lines."""
        return _created(self.lines, recognition(self.how, careful=True))

    @cached_property
    def recognised(self) -> str:
        """Return the statement for lines that were set aside."""
        return _created(self.aside, recognition(self.how, careful=True, lines=set_aside(self.given)))

    def fill(
        self, connection: duckdb.DuckDBPyConnection, files: Sequence[LogFile], paths: Sequence[Path], mended: Paths
    ) -> Share:
        """Fill the table of lines; return the counts. `paths` are the texts of the files.

        If the fast statement fails, use the strict one; if that fails, use it on `mended` copies.
        """
        self._fill(connection, paths, mended)
        return share_of(connection, self.lines, files)

    def _fill(self, connection: duckdb.DuckDBPyConnection, paths: Sequence[Path], mended: Paths) -> None:
        failed = refusals()
        if not all(map(may_scan, paths)):
            return self._run(connection, self.careful, scanned(mended()))
        try:
            return self._run(connection, self.swift, scanned(paths))
        except failed:
            careful = self.careful
        try:
            return self._run(connection, careful, scanned(paths))
        except failed:
            copies = mended()
        return self._run(connection, careful, scanned(copies))

    def set_aside(
        self, connection: duckdb.DuckDBPyConnection, files: Sequence[LogFile], rows: Rows
    ) -> tuple[Share, tuple[int, ...]]:
        """Recognize lines that the scanner set aside; return the counts, and the place of each in its file."""
        connection.register(self.given, rows)
        try:
            self._run(connection, self.recognised, {})
            query = dialect.text(exp.select("place").from_(self.given))
            places = tuple(place for (place,) in connection.execute(query).fetchall())
        finally:
            connection.unregister(self.given)
        return share_of(connection, self.aside, files, places=places), places

    def _run(
        self,
        connection: duckdb.DuckDBPyConnection,
        text: str,
        values: Mapping[str, object],
    ) -> None:
        """Execute a statement that recognizes lines of files."""
        connection.execute(text, {**parameters(self.how), **values})


def _created(table: str, query: exp.Select) -> str:
    creation = exp.Create(this=exp.to_table(table), kind="TABLE", expression=query)
    return creation.sql(dialect=dialect.DIALECT, copy=False)


@dataclass(frozen=True)
class Filling:
    """How a worker reads: its number, the recognition, the message for the scanner, and the limit of bytes of rows."""

    how: Recognition
    number: int
    lines: bytes | None
    most: int

    @property
    def table(self) -> str:
        """Return the table of lines of files that the scanner does not read."""
        return f"rows_{self.number}"

    @property
    def aside(self) -> str:
        """Return the table of lines that the scanner set aside."""
        return f"aside_{self.number}"

    @cached_property
    def tables(self) -> Tables:
        """Return the tables of the worker."""
        return Tables(self.how, self.table, self.aside, f"given_{self.number}")


@dataclass(frozen=True, slots=True)
class ScanResult:
    """Files that were read in one way, with their counts.

    `table` has recognized lines, or those that the scanner set aside, whose places in their files are `places`. Rows
    refer to a file by its item in `indices`. `aside` are the forms of lines that were set aside.
    """

    files: tuple[LogFile, ...]
    indices: tuple[int, ...]
    share: Share
    table: str = ""
    places: tuple[int, ...] | None = None
    scan: scanner.Scanned | None = None
    aside: frozenset[int] = frozenset()

    @property
    def extent(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return the positions of the first and the last file or chunk in the run."""
        first, last = self.files[0], self.files[-1]
        return (first.number, first.begin), (last.number, last.begin)

    def parts(self, number: int, index: int, forms: Sequence[NumberedForm]) -> list[Part]:
        """Return the parts with rows of an event, by its index among required events and its forms."""
        if self.scan is None:
            return [Part(number, self.table)]
        parts = [Part(number, f"scan_{number}", scanned=True)] if self.scan.events[index] else []
        has_odd = any(item.number in self.aside for item in forms)
        return parts + ([Part(number, self.table, odd=True)] if has_odd else [])

    def parameters(self, part: Part) -> dict[str, object]:
        """Return the parameters of a part."""
        hosts: list[str | None] = [None] * (self.indices[-1] + 1)
        offsets = [0] * (self.indices[-1] + 1)
        for index, host, offset in zip(self.indices, self.share.hosts, self.share.offsets, strict=True):
            hosts[index], offsets[index] = host, offset
        values: dict[str, object] = {f"hosts_{part.number}": hosts, f"offsets_{part.number}": offsets}
        return values | ({f"places_{part.number}": list(self.places or ())} if part.odd else {})


def fillings(recognition: Recognition, count: int, share: int = 1) -> list[Filling]:
    """Return the settings of `count` workers that share a part of the memory."""
    lines = lines_message(recognition) if scanner.is_there() else None
    return [Filling(recognition, number, lines, HELD // (count * share)) for number in range(count)]


def fill(engine: Engine, filling: Filling, files: Sequence[LogFile], folder: Path) -> list[ScanResult]:
    """Read files, except those that are left for later since the rows of the others reach the limit.

    Raises AssayError if a file cannot be read to its end.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with closing(Cursor(engine)) as cursor:
            while (results := _Reading(cursor, filling, files, folder).read()) is None:
                # Some grew in the meantime. They are read from copies, so each file causes at most one repetition.
                cursor.drop((filling.table, filling.aside))
            return results
    except Exception as error:
        if not is_of_engine(error) or is_full(error):
            raise
        raise unreadable(files, str(error).split("\n")[0]) from None
    finally:
        shutil.rmtree(folder)


@dataclass(slots=True)
class _Reading:
    """State of reading files; `plain` and `sources` are copies of files that are not read in place."""

    cursor: Cursor
    filling: Filling
    files: Sequence[LogFile]
    folder: Path
    plain: dict[int, Path] = field(default_factory=dict)
    sources: dict[int, Path] = field(default_factory=dict)

    def read(self) -> list[ScanResult] | None:
        """Return the results of the files; None if one changed while it was read in place."""
        scan = self.scanned()
        everything = range(len(self.files))
        strange_files = [index for index in everything if scan is None or scan.files[index].strange]
        read_files = [
            index for index in everything if scan and not (scan.files[index].strange or scan.files[index].left)
        ]
        results = [self.read_scanned(scan, read_files)] if scan and read_files else []
        results += [self.recognised(strange_files)] if strange_files else []
        for file in (self.files[index] for index in (*read_files, *strange_files)):
            if file.end is not None and not file.unpacked:
                file.held.unchanged()
        sources = [item for item in self.sources.items() if item[0] in {*read_files, *strange_files}]
        return results if all(self._is_as_found(index, source) for index, source in sources) else None

    def _is_as_found(self, index: int, source: Path) -> bool:
        file = self.files[index]
        return file.path != source or file.held.steady

    def text(self, index: int) -> Path:
        """Return a file with exactly the text of a file or chunk."""
        if index not in self.plain:
            file = self.files[index]
            self.sources[index] = file.source(self.folder)
            self.plain[index] = plain(self.sources[index], self.folder, f"{file.number}-{file.begin}.plain")
        return self.plain[index]

    def part(self, index: int) -> FilePart:
        """Return the text of a file or chunk in place."""
        file = self.files[index]
        if file.end is not None:
            return FilePart((file.unpacked or file.held).path, file.begin, file.end)
        text = self.text(index)
        return FilePart(text, 0, file.held.size if text == file.path else text.stat().st_size)

    def scanned(self) -> scanner.Scanned | None:
        """Scan the files; None without the scanner."""
        if self.filling.lines is None:
            return None
        parts = [self.part(index) for index in range(len(self.files))]
        # No chunk may be left for later, since line numbers of later chunks depend on its lines.
        most = self.filling.most if all(file.end is None for file in self.files) else NO_END
        return scanner.scan(files_message(parts, most) + self.filling.lines, len(parts))

    def read_scanned(self, scan: scanner.Scanned, indices: Sequence[int]) -> ScanResult:
        """Return the result of files that the scanner reads."""
        share = _share(self.files, scan)
        files = tuple(self.files[index] for index in indices)
        if not scan.odd:
            return ScanResult(files, tuple(indices), only(share, indices), scan=scan)
        with closing(scan.rows(scanner.ODD)) as rows:
            aside, places = self.filling.tables.set_aside(self.cursor.connection, self.files, rows)
        forms = frozenset(tally.form for tally in aside.tallies)
        share_of_all = only(united(share, aside), indices)
        return ScanResult(files, tuple(indices), share_of_all, self.filling.aside, places, scan, forms)

    def recognised(self, indices: Sequence[int]) -> ScanResult:
        """Return the result of files that the engine reads."""
        files = tuple(self.files[index] for index in indices)
        paths = [self.text(index) for index in indices]
        share = self.filling.tables.fill(self.cursor.connection, files, paths, lambda: self.mended(indices))
        return ScanResult(files, tuple(range(len(files))), share, self.filling.table)

    def mended(self, indices: Sequence[int]) -> list[Path]:
        """Return copies of files that the engine accepts in any case."""
        named = [(self.text(index), f"{self.files[index].number}-{self.files[index].begin}") for index in indices]
        return [mended(path, self.folder, f"{name}.mended")[0] for path, name in named]


def _share(files: Sequence[LogFile], scan: scanner.Scanned) -> Share:
    """Return the counts of plain lines."""
    tallies: list[LineCount] = []
    tallied: list[int] = []
    lines = [0] * len(files)
    offsets = tuple(map(offset_of, files))
    for index, (file, result) in enumerate(zip(files, scan.files, strict=True)):
        for item in result.tallies:
            first, last = item.first + offsets[index], item.last + offsets[index]
            instants = (None, None) if item.form == TEXT else (item.first_ns, item.last_ns)
            tallies.append(LineCount(file.host, item.form, item.rows, first, instants[0], last, instants[1]))
            tallied.append(index)
            lines[index] += item.rows
    unknown = tuple(
        (index, UnknownTally(file.host, scan.names[item.name], item.rows, item.first + offsets[index]))
        for index, (file, result) in enumerate(zip(files, scan.files, strict=True))
        for item in result.unknown
    )
    hosts = tuple(file.host for file in files)
    return Share(tuple(tallies), (), hosts, offsets, tuple(lines), tuple(tallied), unknown=unknown)
