"""What a table of recognised lines comes to: how many of each file are what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from assay.ingest import builder
from assay.ingest.chunks import LogFile
from assay.ingest.event_forms import TIMELESS, TORN
from assay.ingest.line_counts import LineCount, Share, offset_of, shift
from assay.ingest.unknown_records import UnknownTally
from assay.sql import dialect
from assay.sql.dialect import column

if TYPE_CHECKING:
    import duckdb


def share_of(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    files: Sequence[LogFile],
    twice: bool = False,
    places: Sequence[int] | None = None,
) -> Share:
    """What a filled table holds: of all lines of files, or of some, of each of which `places` tells where it stands
    (from 0).  `twice` tells that the table has a column of this name."""
    rows = connection.execute(dialect.text(_counts(table, twice))).fetchall()
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
    index, form, number, first, first_ns, last, last_ns, *marks = row
    placed = [mark if mark is None or at % 2 == 0 else places[mark] for at, mark in enumerate(marks)]
    return (index, form, number, places[first], first_ns, places[last], last_ns, *placed)


def _tally(host: str, offset: int, row: Sequence[Any]) -> LineCount:
    _, form, *rest = row
    return shift(LineCount(host, form, *rest), offset)


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
        edges += [exp.CountIf(this=column(mark)), exp.Min(this=builder.when(column(mark), column("rowid")))]
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
