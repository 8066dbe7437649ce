"""What a worker does: it reads its share of the files, so that the rows of events can be taken from what it leaves.

Plain lines are taken by the scanner (`assay.ingest.scanner`), where it is there.  The lines that it sets aside, and the
files that it does not read, become tables of recognised lines.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.ingest import scanner
from assay.ingest.doubled import SMALL
from assay.ingest.event_rows import Part
from assay.ingest.forms import TEXT, Numbered, wanted_events
from assay.ingest.lines import refusals, scanned, set_aside
from assay.ingest.plain import may_scan, mended, plain
from assay.ingest.recognise import Recognition, recognition
from assay.ingest.scanner_message import FilePart, files_message, lines_message
from assay.ingest.shares import LogFile
from assay.ingest.worker import Share, Tally, offset_of, only, share_of, united, unreadable
from assay.spec.file_errors import is_full
from assay.sql import dialect

if TYPE_CHECKING:
    import duckdb

#: bytes of rows that the scanners of all workers may hold: the engine could put them on a disk, these cannot
HELD = 320 * 2**20
NO_END = 2**62


@dataclass(frozen=True)
class Filling:
    """How a worker reads: under what names its tables are, how lines are recognised, what the scanner is told, and how
    many bytes of rows it may hold."""

    how: Recognition
    number: int
    lines: bytes | None
    most: int

    @property
    def table(self) -> str:
        """The table of lines of files that the scanner does not read."""
        return f"rows_{self.number}"

    @property
    def aside(self) -> str:
        """The table of lines that the scanner set aside."""
        return f"aside_{self.number}"

    @property
    def given(self) -> str:
        """The view of lines that the scanner set aside."""
        return f"given_{self.number}"

    @cached_property
    def swift(self) -> str:
        """The statement that fills the table, and fails where a line within braces is no JSON."""
        return _created(self.table, recognition(self.how, careful=False))

    @cached_property
    def careful(self) -> str:
        """The statement for files that hold such lines."""
        return _created(self.table, recognition(self.how, careful=True))

    @cached_property
    def recognised(self) -> str:
        """The statement for lines that were set aside."""
        return _created(self.aside, recognition(self.how, careful=True, lines=set_aside(self.given)))


@dataclass(frozen=True, slots=True)
class Filled:
    """Files that were read in one way, and what they came to.

    `table` holds recognised lines, or those that the scanner set aside: `places` tells of each where it stands in its
    file.  Rows tell their file by its place in `indices`.
    """

    files: tuple[LogFile, ...]
    indices: tuple[int, ...]
    share: Share
    table: str = ""
    places: tuple[int, ...] | None = None
    scan: scanner.Scanned | None = None
    aside: frozenset[int] = frozenset()

    def parts(self, number: int, index: int, own: Sequence[Numbered]) -> list[Part]:
        """Where rows of an event are, by the place of the event among those that are wanted, and its forms."""
        if self.scan is None:
            return [Part(number, self.table)]
        found = [Part(number, f"scan_{number}", scanned=True)] if self.scan.events[index] else []
        some = any(item.number in self.aside for item in own)
        return found + ([Part(number, self.table, odd=True)] if some else [])

    def parameters(self, part: Part) -> dict[str, object]:
        """Those of a part."""
        hosts, offsets = [""] * (self.indices[-1] + 1), [0] * (self.indices[-1] + 1)
        for index, host, offset in zip(self.indices, self.share.hosts, self.share.offsets, strict=True):
            hosts[index], offsets[index] = host, offset
        found: dict[str, object] = {f"hosts_{part.number}": hosts, f"offsets_{part.number}": offsets}
        return found | ({f"places_{part.number}": list(self.places or ())} if part.odd else {})


def fillings(how: Recognition, count: int, share: int = 1) -> list[Filling]:
    """How so many workers read, who have a share of the memory."""
    lines = lines_message(how) if scanner.is_there() else None
    return [Filling(how, number, lines, HELD // (count * share)) for number in range(count)]


def fill(
    connection: duckdb.DuckDBPyConnection, filling: Filling, files: Sequence[LogFile], folder: Path
) -> list[Filled]:
    """Read files, but those that are left for later, as too much is held of the others.

    Raises AssayError when one cannot be read to its end.
    """
    import duckdb

    folder.mkdir(parents=True, exist_ok=True)
    try:
        while (found := _Reading(connection, filling, files, folder).read()) is None:
            # Some grew meanwhile: now they are read out of copies.  So may others while these are, but none twice.
            dropped(connection, (filling.table, filling.aside))
        return found
    except duckdb.Error as error:
        if is_full(error):
            raise
        raise unreadable(files, str(error).split("\n")[0]) from None
    finally:
        shutil.rmtree(folder)


def dropped(connection: duckdb.DuckDBPyConnection, tables: Sequence[str]) -> None:
    """Drop tables, those that are there."""
    for table in tables:
        drop = exp.Drop(tables=[exp.to_table(table)], kind="TABLE", exists=True)
        connection.execute(drop.sql(dialect.DIALECT))


@dataclass(slots=True)
class _Reading:
    """Files being read; the copies of those that are not read where they are."""

    connection: duckdb.DuckDBPyConnection
    filling: Filling
    files: Sequence[LogFile]
    folder: Path
    plain: dict[int, Path] = field(default_factory=dict)
    sources: dict[int, Path] = field(default_factory=dict)

    def read(self) -> list[Filled] | None:
        """What the files come to; None when they are no more what was found."""
        scan = self.scanned()
        everything = range(len(self.files))
        strange = [index for index in everything if scan is None or scan.files[index].strange]
        read = [index for index in everything if scan and not (scan.files[index].strange or scan.files[index].left)]
        found = [self.taken(scan, read)] if scan and read else []
        found += [self.recognised(strange)] if strange else []
        for file in (self.files[index] for index in (*read, *strange)):
            if file.end is not None and not file.unpacked:
                file.held.unchanged()
        own = [item for item in self.sources.items() if item[0] in {*read, *strange}]
        return found if all(self._is_as_found(index, source) for index, source in own) else None

    def _is_as_found(self, index: int, source: Path) -> bool:
        file = self.files[index]
        return file.path != source or file.held.steady

    def text(self, index: int) -> Path:
        """A file that has the text of a file, or of a piece of one, and nothing else."""
        if index not in self.plain:
            file = self.files[index]
            self.sources[index] = file.source(self.folder)
            self.plain[index] = plain(self.sources[index], self.folder, f"{file.number}-{file.begin}.plain")
        return self.plain[index]

    def part(self, index: int) -> FilePart:
        """The text of a file, or of a piece of one, where it is."""
        file = self.files[index]
        if file.end is not None:
            return FilePart((file.unpacked or file.held).path, file.begin, file.end)
        text = self.text(index)
        return FilePart(text, 0, file.held.size if text == file.path else text.stat().st_size)

    def scanned(self) -> scanner.Scanned | None:
        """What the scanner takes of the files."""
        if self.filling.lines is None:
            return None
        parts = [self.part(index) for index in range(len(self.files))]
        # What lines of pieces are counted from is known when all of those before them are read.
        most = self.filling.most if all(file.end is None for file in self.files) else NO_END
        return scanner.scan(files_message(parts, most) + self.filling.lines, len(parts))

    def taken(self, scan: scanner.Scanned, indices: Sequence[int]) -> Filled:
        """What became of the files that the scanner reads."""
        share = _share(self.files, scan)
        files = tuple(self.files[index] for index in indices)
        if not scan.odd:
            return Filled(files, tuple(indices), only(share, indices), scan=scan)
        places = self.set_aside(scan)
        aside = share_of(self.connection, self.filling.aside, self.files, twice=True, places=places)
        forms = frozenset(tally.form for tally in aside.tallies)
        both = only(united(share, aside), indices)
        return Filled(files, tuple(indices), both, self.filling.aside, places, scan, forms)

    def set_aside(self, scan: scanner.Scanned) -> tuple[int, ...]:
        """Recognise the lines that the scanner set aside; where each stands in its file."""
        rows = scan.rows(scanner.ODD)
        self.connection.register(self.filling.given, rows)
        try:
            self.run(self.filling.recognised, range(len(self.files)), {})
            query = dialect.text(exp.select("place").from_(self.filling.given))
            return tuple(place for (place,) in self.connection.execute(query).fetchall())
        finally:
            self.connection.unregister(self.filling.given)
            rows.close()

    def recognised(self, indices: Sequence[int]) -> Filled:
        """What became of files that the engine reads."""
        self.fill(indices)
        files = tuple(self.files[index] for index in indices)
        share = share_of(self.connection, self.filling.table, files, twice=True)
        return Filled(files, tuple(range(len(files))), share, self.filling.table)

    def fill(self, indices: Sequence[int]) -> None:
        """Fill the table: swiftly; if that fails with care; if that fails, out of mended files."""
        failed = refusals()
        paths = [self.text(index) for index in indices]
        if not all(map(may_scan, paths)):
            return self.run(self.filling.careful, indices, scanned(self.mended(indices)))
        try:
            return self.run(self.filling.swift, indices, scanned(paths))
        except failed:
            careful = self.filling.careful
        try:
            return self.run(careful, indices, scanned(paths))
        except failed:
            copies = self.mended(indices)
        return self.run(careful, indices, scanned(copies))

    def mended(self, indices: Sequence[int]) -> list[Path]:
        """Copies of files that the engine reads in any case."""
        named = [(self.text(index), f"{self.files[index].number}-{self.files[index].begin}") for index in indices]
        return [mended(path, self.folder, f"{name}.mended")[0] for path, name in named]

    def run(self, text: str, indices: Sequence[int], parameters: Mapping[str, object]) -> None:
        """Execute a statement that recognises lines of files."""
        how = self.filling.how
        small = [self.files[index].held.size <= SMALL for index in indices]
        asked = {"small": small, "some": any(small)} if wanted_events(how.forms) else {}
        self.connection.execute(text, {**how.parameters, **parameters, **asked})


def _created(table: str, query: exp.Select) -> str:
    creation = exp.Create(this=exp.to_table(table), kind="TABLE", expression=query)
    return creation.sql(dialect=dialect.DIALECT, copy=False)


def _share(files: Sequence[LogFile], scan: scanner.Scanned) -> Share:
    """What the plain lines of files come to."""
    tallies: list[Tally] = []
    tallied: list[int] = []
    lines = [0] * len(files)
    offsets = tuple(map(offset_of, files))
    for index, (file, found) in enumerate(zip(files, scan.files, strict=True)):
        for item in found.tallies:
            first, last = item.first + offsets[index], item.last + offsets[index]
            instants = (None, None) if item.form == TEXT else (item.first_ns, item.last_ns)
            tallies.append(Tally(file.host, item.form, item.rows, first, instants[0], last, instants[1]))
            tallied.append(index)
            lines[index] += item.rows
    return Share(tuple(tallies), (), tuple(file.host for file in files), offsets, tuple(lines), tuple(tallied))
