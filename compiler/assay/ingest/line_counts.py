"""Count the lines of each file by what they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from assay.ingest import builder
from assay.ingest.chunks import FILE_STEP, LogFile
from assay.ingest.discovery import RunFiles
from assay.ingest.event_forms import OTHER, TIMELESS, TORN
from assay.ingest.unknown_records import MOST_OF_FILE, UnknownTally, merge_tallies
from assay.sql import dialect
from assay.sql.dialect import column
from assay.util.diagnostics import AssayError, fail

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True, slots=True)
class LineCount:
    """The lines of a host that are of one form, or of no event for one cause.

    How many; the `seq` of the first and of the last, and their instants; how many have NUL bytes ahead of them, and the
    `seq` of the first of those.  `unended`: the last of them is the last line of its file, has no line end, and ends in
    a value that is used.
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
    unended: bool = False

    @property
    def values(self) -> tuple[object, ...]:
        """All of it, in this order."""
        return tuple(getattr(self, name) for name in self.__dataclass_fields__)


@dataclass(frozen=True, slots=True)
class Share:
    """What a share of the files came to: tallies, and the broken lines (host, seq, form).

    `hosts`, `offsets` and `lines` have a member for each file: its host, what is to be added to a place to make it a
    `seq`, how many lines it has.  `tallied` and `broke` tell the index of the file of each tally and broken line.
    `unknown` are the names of its files that no event has, each with the index of its file.
    """

    tallies: tuple[LineCount, ...]
    broken: tuple[tuple[str, int, int], ...]
    hosts: tuple[str, ...]
    offsets: tuple[int, ...]
    lines: tuple[int, ...]
    tallied: tuple[int, ...] = ()
    broke: tuple[int, ...] = ()
    unknown: tuple[tuple[int, UnknownTally], ...] = ()

    @property
    def unknown_names(self) -> tuple[UnknownTally, ...]:
        """The names that no event has, of each file the most frequent."""
        by_file: dict[int, list[UnknownTally]] = {}
        for index, item in self.unknown:
            by_file.setdefault(index, []).append(item)
        return tuple(item for own in by_file.values() for item in merge_tallies(own, MOST_OF_FILE))


def offset_of(file: LogFile) -> int:
    """What makes the `seq` of a line of a file of its place from 0."""
    return file.order * FILE_STEP + 1


def united(one: Share, other: Share) -> Share:
    """What two shares of lines of the same files come to; places of both count from the beginning of their files."""
    pairs = [*zip(one.tallied, one.tallies, strict=True), *zip(other.tallied, other.tallies, strict=True)]
    found: dict[tuple[int, int], LineCount] = {}
    for index, tally in pairs:
        own = found.get((index, tally.form))
        found[index, tally.form] = tally if own is None else _together(own, tally)
    return replace(
        one,
        tallies=tuple(found.values()),
        tallied=tuple(index for index, _ in found),
        broken=one.broken + other.broken,
        broke=one.broke + other.broke,
        unknown=one.unknown + other.unknown,
        lines=tuple(own + more for own, more in zip(one.lines, other.lines, strict=True)),
    )


def only(share: Share, indices: Sequence[int]) -> Share:
    """A share of some of its files alone: of the others there is nothing in it."""
    at = {index: place for place, index in enumerate(indices)}
    return replace(
        share,
        hosts=tuple(share.hosts[index] for index in indices),
        offsets=tuple(share.offsets[index] for index in indices),
        lines=tuple(share.lines[index] for index in indices),
        tallied=tuple(at[index] for index in share.tallied),
        broke=tuple(at[index] for index in share.broke),
        unknown=tuple((at[index], item) for index, item in share.unknown),
    )


def _together(one: LineCount, other: LineCount) -> LineCount:
    """A tally of the lines of two; only one of them can have lines that are padded."""
    first, last = min(one, other, key=lambda item: item.first_seq), max(one, other, key=lambda item: item.last_seq)
    marked = other if other.padded else one
    return replace(
        marked,
        rows=one.rows + other.rows,
        first_seq=first.first_seq,
        first_ns=first.first_ns,
        last_seq=last.last_seq,
        last_ns=last.last_ns,
    )


def moved(share: Share, before: Sequence[int]) -> Share:
    """A share whose files are pieces that have so many lines of their file before them."""
    if not any(before):
        return share
    tallies = (shift(tally, before[index]) for tally, index in zip(share.tallies, share.tallied, strict=True))
    broken = (
        (host, seq + before[index], form) for (host, seq, form), index in zip(share.broken, share.broke, strict=True)
    )
    offsets = (offset + more for offset, more in zip(share.offsets, before, strict=True))
    unknown = ((index, replace(item, first_seq=item.first_seq + before[index])) for index, item in share.unknown)
    return replace(share, tallies=tuple(tallies), broken=tuple(broken), offsets=tuple(offsets), unknown=tuple(unknown))


def shift(tally: LineCount, lines: int) -> LineCount:
    """A tally of lines that stand so much later."""
    padded = None if tally.first_padded is None else tally.first_padded + lines
    first, last = tally.first_seq + lines, tally.last_seq + lines
    return replace(tally, first_seq=first, last_seq=last, first_padded=padded)


def unreadable(files: Sequence[LogFile], cause: str) -> AssayError:
    names = ", ".join(str(file.path) for file in files[:3]) + (" and others" if len(files) > 3 else "")
    return fail("broken-file", f"the log files cannot be read: {names}", found=cause)


def share_of(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    files: Sequence[LogFile],
    places: Sequence[int] | None = None,
) -> Share:
    """What a filled table holds: of all lines of files, or of some, of each of which `places` tells where it stands
    (from 0)."""
    rows = connection.execute(dialect.text(_counts(table))).fetchall()
    if places is not None:
        rows = [_placed(row, places) for row in rows]
    starts: dict[int, int] = {}
    lines = [0] * len(files)
    for index, _form, number, first, *_ in rows:
        starts[index] = min(first, starts.get(index, first))
        lines[index] += number
    offsets = [offset_of(file) - (starts.get(index, 1) if places is None else 0) for index, file in enumerate(files)]
    tallies = tuple(_tally(files[row[0]].host, offsets[row[0]], row) for row in rows)
    broken: tuple[tuple[str, int, int], ...] = ()
    broke: tuple[int, ...] = ()
    if any(tally.form in (TORN, TIMELESS) for tally in tallies):
        found = connection.execute(dialect.text(_broken(table))).fetchall()
        where = [places[row] if places is not None else row for _, row, _ in found]
        broken = tuple(
            (files[index].host, place + offsets[index], form)
            for (index, _, form), place in zip(found, where, strict=True)
        )
        broke = tuple(index for index, _, _ in found)
    hosts, tallied = tuple(file.host for file in files), tuple(row[0] for row in rows)
    names = connection.execute(dialect.text(_names(table))).fetchall()
    unknown = tuple(
        (index, UnknownTally(files[index].host, name, number, offsets[index] + (places[row] if places else row)))
        for index, name, number, row in names
    )
    return Share(tallies, broken, hosts, tuple(offsets), tuple(lines), tallied, broke, unknown)


def _placed(row: Sequence[Any], places: Sequence[int]) -> tuple[Any, ...]:
    """A row of `_counts` with the places of lines for those of rows."""
    index, form, number, first, first_ns, last, last_ns, padded, first_padded = row
    place = None if first_padded is None else places[first_padded]
    return (index, form, number, places[first], first_ns, places[last], last_ns, padded, place)


def _tally(host: str, offset: int, row: Sequence[Any]) -> LineCount:
    _, form, *rest = row
    return shift(LineCount(host, form, *rest), offset)


def _counts(table: str) -> exp.Select:
    """The lines by file and form, in the order of `Tally`: how many, the first and last place (number of the row) and
    their instants; of each mark how many have it, and the first place of those."""
    edges = [
        exp.Min(this=column("rowid")),
        exp.ArgMin(this=column("t_ns"), expression=column("rowid")),
        exp.Max(this=column("rowid")),
        exp.ArgMax(this=column("t_ns"), expression=column("rowid")),
    ]
    edges += [exp.CountIf(this=column("padded")), exp.Min(this=builder.when(column("padded"), column("rowid")))]
    keys = [column("file"), column("form")]
    query = builder.from_source(dialect.select(*keys, exp.Count(this=exp.Star()), *edges), table)
    return query.group_by(*(key.copy() for key in keys))


def _broken(table: str) -> exp.Select:
    kinds = [builder.small(kind) for kind in (TORN, TIMELESS)]
    query = builder.from_source(dialect.select("file", "rowid", "form"), table)
    return query.where(exp.In(this=column("form"), expressions=kinds)).order_by("file", "rowid")


def _names(table: str) -> exp.Select:
    """The lines by file and name that no event has: how many, and the first (number of the row)."""
    keys = [column("file"), column("name")]
    query = builder.from_source(dialect.select(*keys, exp.Count(this=exp.Star()), exp.Min(this=column("rowid"))), table)
    return query.where(builder.is_not_null(column("name")), copy=False).group_by(*(key.copy() for key in keys))


#: ns by which a file may begin before the end of the one before: records about a rotation are written out of order,
#: and clocks are set back
BORNE = 1_000_000_000


def overlap_warnings(files: RunFiles, found: Sequence[Share]) -> tuple[str, ...]:
    """A sentence on the files of a host that begin before one that is read before them ends; none where none does.

    A file begins at the instant of its first record that has one, and ends at that of its last.
    """
    told = []
    for host in files.hosts:
        if len(host.files) > 1:
            own = [tally for share in found for tally in share.tallies if tally.host == host.host]
            told += _of_host(files, host.host, host.files, own)
    if not told:
        return ()
    more = f" ({len(told) - 1} more overlap)" if len(told) > 1 else ""
    return (f"{told[0]}{more}.",)


def _of_host(files: RunFiles, host: str, paths: Sequence[Path], tallies: Sequence[LineCount]) -> list[str]:
    """What is to be said of each file of a host that overlaps with one before."""
    told: list[str] = []
    latest: tuple[int, Path] | None = None
    for index, path in enumerate(paths):
        dated = [item for item in tallies if item.form >= OTHER and item.first_seq // FILE_STEP == index]
        first = min(dated, key=lambda item: item.first_seq, default=None)
        last = max(dated, key=lambda item: item.last_seq, default=None)
        if first is None or last is None or first.first_ns is None or last.last_ns is None:
            continue
        if latest and latest[0] - first.first_ns > BORNE:
            names = [item.relative_to(files.directory).as_posix() for item in (path, latest[1])]
            seconds = (latest[0] - first.first_ns) // BORNE
            of = f" of host {host}" if host else ""
            told.append(f"log files{of} overlap in time: {names[0]} begins {seconds} s before {names[1]} ends, and is "
                        "read after it")  # fmt: skip
        latest = max((last.last_ns, path), latest or (last.last_ns, path), key=lambda item: item[0])
    return told
