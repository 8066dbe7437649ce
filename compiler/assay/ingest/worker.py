"""What a worker does: it fills a table with the recognised lines of its share of the files, and counts them."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from assay.ingest import tree
from assay.ingest.doubled import SMALL
from assay.ingest.forms import TIMELESS, TORN, wanted_events
from assay.ingest.lines import refusals, scanned
from assay.ingest.plain import may_scan, mended, plain
from assay.ingest.recognise import Recognition, recognition
from assay.ingest.shares import FILE_STEP, LogFile
from assay.spec.diagnostics import AssayError, fail
from assay.spec.file_errors import is_full
from assay.sql import dialect
from assay.sql.dialect import column

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True, slots=True)
class Filling:
    """How a table is filled with the lines of files: the statement that is tried first."""

    recognition: Recognition
    table: str
    swift: str

    @property
    def careful(self) -> str:
        """The statement for files that hold lines within braces that are no JSON."""
        return _created(self.table, recognition(self.recognition, careful=True))


@dataclass(frozen=True, slots=True)
class Tally:
    """The lines of a host that are of one form, or of no event for one cause.

    How many; the `seq` of the first and of the last, and their instants; how many have NUL bytes ahead of them, and the
    `seq` of the first of those; the same of lines that have two values of a key that is read.  `unended`: the last of
    them is the last line of its file, has no line end, and ends in a value that is used.
    """

    host: str
    form: int
    rows: int
    first_seq: int
    first_ns: int | None
    last_seq: int
    last_ns: int | None
    padded: int = 0
    first_padded: int | None = None
    twice: int = 0
    first_twice: int | None = None
    unended: bool = False


@dataclass(frozen=True, slots=True)
class Share:
    """What a share of the files came to: tallies, and the broken lines (host, seq, form).

    `hosts`, `offsets` and `lines` have a member for each file: its host, what is to be added to a place to make it a
    `seq`, how many lines it has.  `tallied` and `broke` tell the index of the file of each tally and broken line.
    """

    tallies: tuple[Tally, ...]
    broken: tuple[tuple[str, int, int], ...]
    hosts: tuple[str, ...]
    offsets: tuple[int, ...]
    lines: tuple[int, ...]
    tallied: tuple[int, ...] = ()
    broke: tuple[int, ...] = ()


def filling(how: Recognition, table: str) -> Filling:
    """How a table is filled."""
    return Filling(how, table, _created(table, recognition(how, careful=False)))


def _created(table: str, query: exp.Select) -> str:
    creation = exp.Create(this=exp.to_table(table), kind="TABLE", expression=query)
    return creation.sql(dialect=dialect.DIALECT, copy=False)


def fill(connection: duckdb.DuckDBPyConnection, how: Filling, files: Sequence[LogFile], folder: Path) -> Share:
    """Fill a table with the lines of files.  Raises AssayError when a file cannot be read to its end."""
    import duckdb

    folder.mkdir(parents=True, exist_ok=True)
    try:
        while not _fill(connection, how, files, folder):
            # Some grew meanwhile: now they are read out of copies.  So may others while these are, but none twice.
            connection.execute(exp.Drop(tables=[exp.to_table(how.table)], kind="TABLE").sql(dialect.DIALECT))
        return share_of(connection, how.table, files, twice=True)
    except duckdb.Error as error:
        if is_full(error):
            raise
        raise unreadable(files, str(error).split("\n")[0]) from None
    finally:
        shutil.rmtree(folder)


def _fill(connection: duckdb.DuckDBPyConnection, how: Filling, files: Sequence[LogFile], folder: Path) -> bool:
    """Fill a table: swiftly; if that fails with care; if that fails, out of mended files.

    Whether what was read is what was found.
    """
    sources = [file.source(folder) for file in files]
    named = [(f"{file.number}-{file.begin}", source) for file, source in zip(files, sources, strict=True)]
    small = [file.held.size <= SMALL for file in files]
    _filled(connection, how, named, small, folder)
    for file in files:
        if file.end is not None and not file.unpacked:
            file.held.unchanged()
    return all(file.path != source or file.held.steady for file, source in zip(files, sources, strict=True))


def _filled(
    connection: duckdb.DuckDBPyConnection,
    how: Filling,
    sources: Sequence[tuple[str, Path]],
    small: Sequence[bool],
    folder: Path,
) -> None:
    """Fill a table out of files, each with a name for its copies; `small` tells of each whether it is."""
    failed = refusals()
    paths = [plain(source, folder, f"{name}.plain") for name, source in sources]
    if not all(map(may_scan, paths)):
        return _run(connection, how.careful, how, _mended(sources, folder), small)
    try:
        return _run(connection, how.swift, how, paths, small)
    except failed:
        careful = how.careful
    try:
        return _run(connection, careful, how, paths, small)
    except failed:
        copies = _mended(sources, folder)
    return _run(connection, careful, how, copies, small)


def _mended(sources: Sequence[tuple[str, Path]], folder: Path) -> list[Path]:
    return [mended(source, folder, f"{name}.mended")[0] for name, source in sources]


def unreadable(files: Sequence[LogFile], cause: str) -> AssayError:
    names = ", ".join(str(file.path) for file in files[:3]) + (" and others" if len(files) > 3 else "")
    return fail("broken-file", f"the log files cannot be read: {names}", found=cause)


def _run(
    connection: duckdb.DuckDBPyConnection, text: str, how: Filling, paths: Sequence[Path], small: Sequence[bool]
) -> None:
    asked = {"small": small, "some": any(small)} if wanted_events(how.recognition.forms) else {}
    connection.execute(text, {**how.recognition.parameters, **scanned(paths), **asked})


def share_of(connection: duckdb.DuckDBPyConnection, table: str, files: Sequence[LogFile], twice: bool = False) -> Share:
    """What a filled table holds; `twice` tells that it has a column of this name."""
    rows = connection.execute(dialect.text(_counts(table, twice))).fetchall()
    starts: dict[int, int] = {}
    lines = [0] * len(files)
    for index, _form, number, first, *_ in rows:
        starts[index] = min(first, starts.get(index, first))
        lines[index] += number
    offsets = [file.order * FILE_STEP + 1 - starts.get(index, 1) for index, file in enumerate(files)]
    tallies = tuple(_tally(files[row[0]].host, offsets[row[0]], row) for row in rows)
    broken: tuple[tuple[str, int, int], ...] = ()
    broke: tuple[int, ...] = ()
    if any(tally.form in (TORN, TIMELESS) for tally in tallies):
        found = connection.execute(dialect.text(_broken(table))).fetchall()
        broken = tuple((files[index].host, place + offsets[index], form) for index, place, form in found)
        broke = tuple(index for index, _, _ in found)
    hosts, tallied = tuple(file.host for file in files), tuple(row[0] for row in rows)
    return Share(tallies, broken, hosts, tuple(offsets), tuple(lines), tallied, broke)


def moved(share: Share, before: Sequence[int]) -> Share:
    """A share whose files are pieces that have so many lines of their file before them."""
    if not any(before):
        return share
    tallies = (_later(tally, before[index]) for tally, index in zip(share.tallies, share.tallied, strict=True))
    broken = (
        (host, seq + before[index], form) for (host, seq, form), index in zip(share.broken, share.broke, strict=True)
    )
    offsets = (offset + more for offset, more in zip(share.offsets, before, strict=True))
    return replace(share, tallies=tuple(tallies), broken=tuple(broken), offsets=tuple(offsets))


def _tally(host: str, offset: int, row: Sequence[Any]) -> Tally:
    _, form, *rest = row
    return _later(Tally(host, form, *rest), offset)


def _later(tally: Tally, lines: int) -> Tally:
    """A tally of lines that stand so much later."""
    padded = None if tally.first_padded is None else tally.first_padded + lines
    twice = None if tally.first_twice is None else tally.first_twice + lines
    first, last = tally.first_seq + lines, tally.last_seq + lines
    return replace(tally, first_seq=first, last_seq=last, first_padded=padded, first_twice=twice)


def _counts(table: str, twice: bool) -> exp.Select:
    """The lines by file and form, in the order of `Tally`: how many, the first and last place (number of the row) and
    their instants; of each mark how many have it, and the first place of those."""
    edges = [
        exp.Min(this=column("rowid")),
        exp.ArgMin(this=column("t_ns"), expression=column("rowid")),
        exp.Max(this=column("rowid")),
        exp.ArgMax(this=column("t_ns"), expression=column("rowid")),
    ]
    for mark in ("padded", "twice") if twice else ("padded",):
        edges += [exp.CountIf(this=column(mark)), exp.Min(this=tree.when(column(mark), column("rowid")))]
    keys = [column("file"), column("form")]
    query = tree.of(dialect.select(*keys, exp.Count(this=exp.Star()), *edges), table)
    return query.group_by(*(key.copy() for key in keys))


def _broken(table: str) -> exp.Select:
    kinds = [tree.small(kind) for kind in (TORN, TIMELESS)]
    query = tree.of(dialect.select("file", "rowid", "form"), table)
    return query.where(exp.In(this=column("form"), expressions=kinds)).order_by("file", "rowid")
