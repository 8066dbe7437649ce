"""What an ingested run's logs hold, host by host; broken lines with their texts; the limit of what is borne."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from assay.ingest import extract
from assay.ingest.extract import ROWS, Numbered, Wanted
from assay.ingest.files import RunFiles
from assay.ingest.quarantine import Broken, describe
from assay.spec.diagnostics import AssayError, Diagnostic, fail
from assay.spec.model import Event, Source
from assay.sql import dialect
from assay.sql.dialect import column
from assay.sql.events import parquet

if TYPE_CHECKING:
    import duckdb

BROKEN = (extract.BROKEN, extract.TIMELESS, extract.LACKING)
OBJECTS = (extract.EVENT, extract.OTHER, extract.TIMELESS, extract.LACKING)
_LOGS = "host TEXT, lines BIGINT, objects BIGINT, recognised BIGINT, quarantined BIGINT, text_lines BIGINT"
_INSTANTS = "first_ns BIGINT, last_ns BIGINT, first_recognised_ns BIGINT"


@dataclass(frozen=True, slots=True)
class Tally:
    """Rows of a host that share form and state: how many, the first and last place that has an instant, and these."""

    host: str
    form: int | None
    state: int
    rows: int
    first_seq: int | None
    first_ns: int | None
    last_seq: int | None
    last_ns: int | None


@dataclass(frozen=True, slots=True)
class Batch:
    """What some hosts' rows came to: tallies, and the broken rows (host, seq, state, form)."""

    tallies: tuple[Tally, ...]
    lost: tuple[tuple[str, int, int, int | None], ...]


def lacking_rows(
    connection: duckdb.DuckDBPyConnection, folder: Path, number: int, events: Iterable[str]
) -> list[tuple[str, int]]:
    """Host and place of the rows of a batch that lack a required field."""
    found: list[tuple[str, int]] = []
    for name in events:
        table = parquet(str(folder / "events" / name / f"{number}.parquet")).subquery(alias="rows")
        query = exp.select("host", "seq").from_(table).where(exp.Not(this=column("whole")))
        found += connection.execute(dialect.text(query)).fetchall()
    return found


def mark_lacking(connection: duckdb.DuckDBPyConnection, lacking: Sequence[tuple[str, int]]) -> None:
    """Give these rows the state of broken ones."""
    if lacking:
        connection.executemany(f"UPDATE {ROWS} SET state = {extract.LACKING} WHERE host = ? AND seq = ?", lacking)


def read_batch(connection: duckdb.DuckDBPyConnection) -> Batch:
    """The tallies and the broken rows of the table `rows`."""
    there = exp.Case(
        ifs=[exp.If(this=exp.Not(this=exp.Is(this=column("t_ns"), expression=exp.Null())), true=column("seq"))]
    )
    edges = [
        (exp.Min(this=there), exp.ArgMin(this=column("t_ns"), expression=there.copy())),
        (exp.Max(this=there.copy()), exp.ArgMax(this=column("t_ns"), expression=there.copy())),
    ]
    keys = [column(name) for name in ("host", "form", "state")]
    query = exp.select(*keys, exp.Count(this=exp.Star()), *(item for pair in edges for item in pair)).from_(ROWS)
    query = query.group_by(*(key.copy() for key in keys))
    tallies = tuple(Tally(*row) for row in connection.execute(dialect.text(query)).fetchall())
    broken = exp.In(this=column("state"), expressions=[dialect.integer(state) for state in BROKEN])
    lost = exp.select("host", "seq", "state", "form").from_(ROWS).where(broken).order_by("host", "seq")
    return Batch(tallies, tuple(connection.execute(dialect.text(lost)).fetchall()))


def write_summary(
    source: Source,
    events: Sequence[Event],
    wanted: Wanted,
    files: RunFiles,
    batches: Sequence[Batch],
    forms: Sequence[Numbered],
    folder: Path,
) -> None:
    """Write logs.parquet, counts.parquet, quarantine.parquet; AssayError when more is broken than the source bears."""
    tallies = [tally for batch in batches for tally in batch.tallies]
    hosts = {host.host: host for host in files.hosts}
    logs = [_log(name, [tally for tally in tallies if tally.host == name]) for name in sorted(hosts)]
    names = {item.number: item.event.name for item in forms}
    lost = sorted(row for batch in batches for row in batch.lost)
    found = describe(source, events, wanted, hosts, [(*row[:3], names.get(row[3] or 0, "")) for row in lost])
    _write(folder / "logs.parquet", f"{_LOGS}, {_INSTANTS}", logs)
    _write(folder / "counts.parquet", "host TEXT, event TEXT, n BIGINT", _counts(tallies, names))
    rows = [(item.host, item.file, item.line, item.reason, item.text) for item in found]
    _write(folder / "quarantine.parquet", "host TEXT, file TEXT, line BIGINT, reason TEXT, text TEXT", rows)
    _judge(source, logs, found)


def _log(host: str, tallies: Sequence[Tally]) -> tuple[Any, ...]:
    def count(states: Iterable[int]) -> int:
        return sum(tally.rows for tally in tallies if tally.state in states)

    objects = [tally for tally in tallies if tally.state in OBJECTS and tally.first_seq is not None]
    known = [tally for tally in objects if tally.state == extract.EVENT]
    first = min(objects, key=lambda tally: tally.first_seq or 0, default=None)
    last = max(objects, key=lambda tally: tally.last_seq or 0, default=None)
    recognised = min(known, key=lambda tally: tally.first_seq or 0, default=None)
    return (
        host,
        count(range(6)),
        count(OBJECTS),
        count([extract.EVENT]),
        count(BROKEN),
        count([extract.TEXT]),
        first.first_ns if first else None,
        last.last_ns if last else None,
        recognised.first_ns if recognised else None,
    )


def _counts(tallies: Iterable[Tally], names: Mapping[int, str]) -> list[tuple[str, str, int]]:
    """How often each event stands in each host's log."""
    found: dict[tuple[str, str], int] = {}
    for tally in tallies:
        if tally.state == extract.EVENT and tally.form is not None:
            key = (tally.host, names[tally.form])
            found[key] = found.get(key, 0) + tally.rows
    return [(host, event, number) for (host, event), number in sorted(found.items())]


def _write(place: Path, columns: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """A small table as Parquet."""
    import duckdb

    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE written ({columns})")
        if rows:
            marks = ", ".join("?" for _ in rows[0])
            connection.executemany(f"INSERT INTO written VALUES ({marks})", rows)
        connection.table("written").write_parquet(str(place))


def _judge(source: Source, logs: Sequence[tuple[Any, ...]], found: Sequence[Broken]) -> None:
    """Too many broken lines of a host, or no recognised line in the whole run, end the ingest."""
    problems = []
    for host, lines, _objects, _recognised, lost, *_ in logs:
        limit = max(int(source.quarantine.share * lines), source.quarantine.at_least)
        if lost > limit:
            problems.append(_too_many(host, lines, lost, limit, [item for item in found if item.host == host]))
    if problems:
        raise AssayError(problems)
    if not any(row[3] for row in logs):
        lines = sum(row[1] for row in logs)
        raise fail(
            "nothing-recognised",
            f"none of the {lines} log lines of {len(logs)} hosts is an event that the specs know",
            hint="are these logs of this system? `assay list events` tells the names that are known",
        )


def _too_many(host: str, lines: int, lost: int, limit: int, found: Sequence[Broken]) -> Diagnostic:
    notes = tuple(f"{item.file}:{item.line}: {item.reason}" for item in found[:3])
    return Diagnostic(
        "too-many-broken-lines",
        f"{lost} of the {lines} log lines of host {host} are broken",
        expected=f"at most {limit}",
        found=str(lost),
        notes=notes,
        hint="the limit stands in the source's definition (`quarantine`)",
    )
