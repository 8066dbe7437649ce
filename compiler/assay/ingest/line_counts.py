"""Count the lines of each file by form, and warn about files that overlap in time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from assay.ingest import sql_trees
from assay.ingest.chunks import FILE_STEP, LogFile
from assay.ingest.discovery import RunFiles
from assay.ingest.event_forms import OTHER, TIMELESS, TORN
from assay.ingest.quarantine import DESCRIBED_LINES
from assay.ingest.unknown_records import FILE_NAME_LIMIT, UnknownTally, merge_tallies
from assay.sql import dialect
from assay.sql.dialect import build_column
from assay.util.diagnostics import AssayError, fail
from assay.util.time_units import SECOND

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True, slots=True)
class LineCount:
    """The lines of a host that have one form, or no event for one reason.

    `first_seq` and `last_seq` are those of the first and the last line; `first_timed`, `first_ns`, `last_timed` and
    `last_ns` are `seq` and instant of the first and the last line that has an instant. `padded` counts lines with NUL
    bytes before them; `first_padded` is the `seq` of the first of these. `unended` is true if the last line of the file
    has no line end and ends in a value that is used.
    """

    host: str
    form: int
    rows: int
    first_seq: int
    last_seq: int
    first_timed: int | None
    first_ns: int | None
    last_timed: int | None
    last_ns: int | None
    padded: int = 0
    first_padded: int | None = None
    unended: bool = False

    @property
    def values(self) -> tuple[object, ...]:
        """Return all fields in order."""
        return tuple(getattr(self, name) for name in self.__dataclass_fields__)


@dataclass(frozen=True, slots=True)
class FileCounts:
    """The line counts of some files, and the first malformed lines of each (host, seq, form), as many as are described.

    `hosts`, `offsets` and `lines` have an item for each file: its host, the difference between the `seq` of a line and
    its place in the file, its line count. `tally_files` and `malformed_files` are the file indices of tallies and
    malformed lines. `unknown` are the names without an event, each with the index of its file.
    """

    tallies: tuple[LineCount, ...]
    malformed: tuple[tuple[str, int, int], ...]
    hosts: tuple[str, ...]
    offsets: tuple[int, ...]
    lines: tuple[int, ...]
    tally_files: tuple[int, ...] = ()
    malformed_files: tuple[int, ...] = ()
    unknown: tuple[tuple[int, UnknownTally], ...] = ()

    @property
    def unknown_names(self) -> tuple[UnknownTally, ...]:
        """Return the most frequent names without an event of each file."""
        by_file: dict[int, list[UnknownTally]] = {}
        for index, item in self.unknown:
            by_file.setdefault(index, []).append(item)
        return tuple(item for tallies in by_file.values() for item in merge_tallies(tallies, FILE_NAME_LIMIT))


def compute_offset(file: LogFile) -> int:
    """Return the difference between the `seq` of a line and its place in its file, from 0."""
    return file.order * FILE_STEP + 1


def merge_counts(first: FileCounts, second: FileCounts) -> FileCounts:
    """Merge the counts of different lines of the same files. In both, `seq` counts from the beginning of a file."""
    pairs = [*zip(first.tally_files, first.tallies, strict=True), *zip(second.tally_files, second.tallies, strict=True)]
    by_form: dict[tuple[int, int], LineCount] = {}
    for index, tally in pairs:
        count = by_form.get((index, tally.form))
        by_form[index, tally.form] = tally if count is None else _merge_line_counts(count, tally)
    return replace(
        first,
        tallies=tuple(by_form.values()),
        tally_files=tuple(index for index, _ in by_form),
        malformed=first.malformed + second.malformed,
        malformed_files=first.malformed_files + second.malformed_files,
        unknown=first.unknown + second.unknown,
        lines=tuple(count + second_count for count, second_count in zip(first.lines, second.lines, strict=True)),
    )


def split_by_file(counts: FileCounts) -> list[FileCounts]:
    """Return the counts of each file."""
    tallies: list[list[LineCount]] = [[] for _ in counts.lines]
    malformed: list[list[tuple[str, int, int]]] = [[] for _ in counts.lines]
    unknown: list[list[tuple[int, UnknownTally]]] = [[] for _ in counts.lines]
    for index, tally in zip(counts.tally_files, counts.tallies, strict=True):
        tallies[index].append(tally)
    for index, row in zip(counts.malformed_files, counts.malformed, strict=True):
        malformed[index].append(row)
    for index, item in counts.unknown:
        unknown[index].append((0, item))
    return [
        FileCounts(
            tuple(tallies[index]),
            tuple(malformed[index]),
            (counts.hosts[index],),
            (counts.offsets[index],),
            (lines,),
            (0,) * len(tallies[index]),
            (0,) * len(malformed[index]),
            tuple(unknown[index]),
        )
        for index, lines in enumerate(counts.lines)
    ]


def select_files(counts: FileCounts, indices: Sequence[int]) -> FileCounts:
    """Return the counts of some of the files; all counts of other files must be empty."""
    positions = {index: position for position, index in enumerate(indices)}
    return replace(
        counts,
        hosts=tuple(counts.hosts[index] for index in indices),
        offsets=tuple(counts.offsets[index] for index in indices),
        lines=tuple(counts.lines[index] for index in indices),
        tally_files=tuple(positions[index] for index in counts.tally_files),
        malformed_files=tuple(positions[index] for index in counts.malformed_files),
        unknown=tuple((positions[index], item) for index, item in counts.unknown),
    )


def _merge_line_counts(left: LineCount, right: LineCount) -> LineCount:
    """Merge two tallies; at most one has padded lines."""
    first, last = find_first_timed((left, right)) or left, find_last_timed((left, right)) or left
    padded_count = right if right.padded else left
    return replace(
        padded_count,
        rows=left.rows + right.rows,
        first_seq=min(left.first_seq, right.first_seq),
        last_seq=max(left.last_seq, right.last_seq),
        first_timed=first.first_timed,
        first_ns=first.first_ns,
        last_timed=last.last_timed,
        last_ns=last.last_ns,
    )


def find_first_timed(tallies: Iterable[LineCount]) -> LineCount | None:
    """Return the tally with the first line that has an instant, None without such a line."""
    timed = [(tally.first_timed, tally) for tally in tallies if tally.first_timed is not None]
    return min(timed, key=lambda item: item[0])[1] if timed else None


def find_last_timed(tallies: Iterable[LineCount]) -> LineCount | None:
    """Return the tally with the last line that has an instant, None without such a line."""
    timed = [(tally.last_timed, tally) for tally in tallies if tally.last_timed is not None]
    return max(timed, key=lambda item: item[0])[1] if timed else None


def shift_counts(counts: FileCounts, preceding_lines: Sequence[int]) -> FileCounts:
    """Return the counts of chunks after `preceding_lines` lines of their files."""
    if not any(preceding_lines):
        return counts
    tallies = (
        shift_tally(tally, preceding_lines[index])
        for tally, index in zip(counts.tallies, counts.tally_files, strict=True)
    )
    malformed = (
        (host, seq + preceding_lines[index], form)
        for (host, seq, form), index in zip(counts.malformed, counts.malformed_files, strict=True)
    )
    offsets = (offset + added_lines for offset, added_lines in zip(counts.offsets, preceding_lines, strict=True))
    unknown = (
        (index, replace(item, first_seq=item.first_seq + preceding_lines[index])) for index, item in counts.unknown
    )
    return replace(
        counts, tallies=tuple(tallies), malformed=tuple(malformed), offsets=tuple(offsets), unknown=tuple(unknown)
    )


def shift_tally(tally: LineCount, lines: int) -> LineCount:
    """Return a tally, moved towards the end of its file by a number of lines."""
    names = ("first_seq", "last_seq", "first_timed", "last_timed", "first_padded")
    places = {name: getattr(tally, name) for name in names}
    return replace(tally, **{name: place + lines for name, place in places.items() if place is not None})


def build_unreadable_error(files: Sequence[LogFile], cause: str) -> AssayError:
    """Return the error for log files that the engine cannot read."""
    names = ", ".join(str(file.path) for file in files[:3]) + (" and others" if len(files) > 3 else "")
    return fail("broken-file", f"the log files cannot be read: {names}", found=cause)


def count_lines(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    files: Sequence[LogFile],
    places: Sequence[int] | None = None,
) -> FileCounts:
    """Return the counts of a table of recognized lines.

    The table has all lines of the files. With `places`, it has only some lines, and the n-th place is that of the n-th
    row in its file, from 0.
    """
    rows = connection.execute(dialect.to_sql(_build_counts_query(table))).fetchall()
    if places is not None:
        rows = [_replace_row_numbers(row, places) for row in rows]
    first_rows: dict[int, int] = {}
    lines = [0] * len(files)
    for index, _form, number, first, *_ in rows:
        first_rows[index] = min(first, first_rows.get(index, first))
        lines[index] += number
    offsets = [
        compute_offset(file) - (first_rows.get(index, 1) if places is None else 0) for index, file in enumerate(files)
    ]
    tallies = tuple(_build_tally(files[row[0]].host, offsets[row[0]], row) for row in rows)
    malformed_lines: tuple[tuple[str, int, int], ...] = ()
    malformed_files: tuple[int, ...] = ()
    if any(tally.form in (TORN, TIMELESS) for tally in tallies):
        malformed = connection.execute(dialect.to_sql(_build_malformed_query(table))).fetchall()
        line_places = [places[row] if places is not None else row for _, row, _ in malformed]
        malformed_lines = tuple(
            (files[index].host, place + offsets[index], form)
            for (index, _, form), place in zip(malformed, line_places, strict=True)
        )
        malformed_files = tuple(index for index, _, _ in malformed)
    hosts, tally_files = tuple(file.host for file in files), tuple(row[0] for row in rows)
    names = connection.execute(dialect.to_sql(_build_names_query(table))).fetchall()
    unknown = tuple(
        (index, UnknownTally(files[index].host, name, number, offsets[index] + (places[row] if places else row), torn))
        for index, name, torn, number, row in names
    )
    return FileCounts(
        tallies, malformed_lines, hosts, tuple(offsets), tuple(lines), tally_files, malformed_files, unknown
    )


def _replace_row_numbers(row: Sequence[Any], places: Sequence[int]) -> tuple[Any, ...]:
    """Replace row numbers by places of lines in a row of `_build_counts_query`."""
    index, form, number, first, last, first_timed, first_ns, last_timed, last_ns, padded, first_padded = row
    first, last, first_timed, last_timed, first_padded = (
        None if item is None else places[item] for item in (first, last, first_timed, last_timed, first_padded)
    )
    return (index, form, number, first, last, first_timed, first_ns, last_timed, last_ns, padded, first_padded)


def _build_tally(host: str, offset: int, row: Sequence[Any]) -> LineCount:
    _, form, *rest = row
    return shift_tally(LineCount(host, form, *rest), offset)


def _build_counts_query(table: str) -> exp.Select:
    """Return the query for the counts by file and form.

    Its columns are those of `LineCount`: number of lines, first and last row, first row with an instant, its instant,
    last such row and its instant, number of padded lines, first padded row.
    """
    timed_row = sql_trees.build_if(sql_trees.is_not_null(build_column("t_ns")), build_column("rowid"))
    edges = [
        exp.Min(this=build_column("rowid")),
        exp.Max(this=build_column("rowid")),
        exp.Min(this=timed_row),
        exp.ArgMin(this=build_column("t_ns"), expression=build_column("rowid")),
        exp.Max(this=timed_row.copy()),
        exp.ArgMax(this=build_column("t_ns"), expression=build_column("rowid")),
    ]
    edges += [
        exp.CountIf(this=build_column("padded")),
        exp.Min(this=sql_trees.build_if(build_column("padded"), build_column("rowid"))),
    ]
    keys = [build_column("file"), build_column("form")]
    query = sql_trees.set_source(dialect.select(*keys, exp.Count(this=exp.Star()), *edges), table)
    return query.group_by(*(key.copy() for key in keys))


def _build_malformed_query(table: str) -> exp.Select:
    """Return the query for the first malformed lines of each file: file, row, form."""
    kinds = [sql_trees.build_smallint(kind) for kind in (TORN, TIMELESS)]
    query = sql_trees.set_source(dialect.select("file", "rowid", "form"), table)
    number = exp.Window(
        this=exp.RowNumber(),
        partition_by=[build_column("file")],
        order=exp.Order(expressions=[exp.Ordered(this=build_column("rowid"))]),
    )
    query = query.where(exp.In(this=build_column("form"), expressions=kinds)).order_by("file", "rowid")
    query.set("qualify", exp.Qualify(this=exp.LTE(this=number, expression=dialect.build_integer(DESCRIBED_LINES))))
    return query


def _build_names_query(table: str) -> exp.Select:
    """Return the query for the names without an event by file, of malformed lines apart: number of lines, first row."""
    is_torn = exp.EQ(this=build_column("form"), expression=dialect.build_integer(TORN))
    keys = [build_column("file"), build_column("name"), is_torn]
    query = sql_trees.set_source(
        dialect.select(*keys, exp.Count(this=exp.Star()), exp.Min(this=build_column("rowid"))), table
    )
    return query.where(sql_trees.is_not_null(build_column("name")), copy=False).group_by(*(key.copy() for key in keys))


#: ns by which a file may begin before the end of the previous one without a warning, since records about a rotation are
#: not in order, and clocks may step back
OVERLAP_TOLERANCE = SECOND


def list_overlap_warnings(files: RunFiles, file_counts: Sequence[FileCounts]) -> tuple[str, ...]:
    """Return a warning about files of a host that begin before a file that is read earlier ends, or nothing.

    A file begins at the instant of its first record with an instant, and ends at that of the last.
    """
    messages = []
    dated: dict[tuple[str, int], list[LineCount]] = {}
    for tally in (tally for counts in file_counts for tally in counts.tallies):
        if tally.form >= OTHER:
            dated.setdefault((tally.host, tally.first_seq // FILE_STEP), []).append(tally)
    for host in files.hosts:
        if len(host.files) > 1:
            messages += _list_host_overlaps(files, host.host, host.files, dated)
    if not messages:
        return ()
    more = f" ({len(messages) - 1} more overlap)" if len(messages) > 1 else ""
    return (f"{messages[0]}{more}.",)


def _list_host_overlaps(
    files: RunFiles, host: str, paths: Sequence[Path], dated: Mapping[tuple[str, int], Sequence[LineCount]]
) -> list[str]:
    """Return a message for each file of a host that overlaps with an earlier one, by tallies of hosts and files."""
    messages: list[str] = []
    latest: tuple[int, Path] | None = None
    for index, path in enumerate(paths):
        of_file = dated.get((host, index), ())
        first, last = find_first_timed(of_file), find_last_timed(of_file)
        if first is None or last is None or first.first_ns is None or last.last_ns is None:
            continue
        if latest and latest[0] - first.first_ns > OVERLAP_TOLERANCE:
            names = [item.relative_to(files.directory).as_posix() for item in (path, latest[1])]
            seconds = (latest[0] - first.first_ns) // OVERLAP_TOLERANCE
            host_clause = f" of host {host}" if host else ""
            messages.append(
                f"log files{host_clause} overlap in time: {names[0]} begins {seconds} s before {names[1]} ends, and is "
                "read after it"
            )
        latest = max((last.last_ns, path), latest or (last.last_ns, path), key=lambda item: item[0])
    return messages
