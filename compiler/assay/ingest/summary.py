"""What an ingested run's logs hold, host by host; broken lines with their texts; the limit of what is borne."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from assay.ingest import tree
from assay.ingest.files import RunFiles
from assay.ingest.forms import LACKING, OTHER, TEXT, TIMELESS
from assay.ingest.quarantine import Broken, Lost, describe, reason
from assay.ingest.recognise import Recognition
from assay.ingest.worker import Share, Tally
from assay.spec.diagnostics import AssayError, Diagnostic, fail
from assay.spec.model import Source
from assay.sql import dialect

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True, slots=True)
class Log:
    """What a host's log holds: a row of logs.parquet.

    `objects` are the lines that are whole JSON objects; `first_ns` and `last_ns` the instants of the first and the last
    of them in log order that have one, `first_recognised_ns` that of the first event.
    """

    host: str
    lines: int
    objects: int
    recognised: int
    quarantined: int
    text_lines: int
    first_ns: int | None
    last_ns: int | None
    first_recognised_ns: int | None


def write_summary(
    connection: duckdb.DuckDBPyConnection,
    how: Recognition,
    files: RunFiles,
    found: Sequence[Share],
    lacking: Sequence[tuple[str, int, str]],
    folder: Path,
) -> None:
    """Write logs.parquet, counts.parquet, quarantine.parquet; AssayError when more is broken than the source bears."""
    names = {item.number: item.event.name for item in how.forms}
    summarised(connection, how.source, names, files, found, lacking, folder, partial(reason, how))


def summarised(
    connection: duckdb.DuckDBPyConnection,
    source: Source,
    names: Mapping[int, str],
    files: RunFiles,
    found: Sequence[Share],
    lacking: Sequence[tuple[str, int, str]],
    folder: Path,
    why: Callable[[Lost, str], str],
) -> None:
    """Write what was found of the lines of a source; `names` are the events by the numbers of their forms, `why` tells
    the reason of a lost line by its text."""
    tallies = [tally for share in found for tally in share.tallies]
    lost = [Lost(host, seq, form, "") for share in found for host, seq, form in share.broken]
    lost += [Lost(host, seq, LACKING, event) for host, seq, event in lacking]
    logs = [_log(host.host, tallies, lost) for host in files.hosts]
    broken = describe(files, sorted(lost), why)
    write_found(connection, source, logs, _counts(names, tallies, lost), broken, folder)


def write_found(
    connection: duckdb.DuckDBPyConnection,
    source: Source,
    logs: Sequence[Log],
    counts: Sequence[tuple[str, str, int]],
    broken: Sequence[Broken],
    folder: Path,
) -> None:
    """Write what was found of logs, of events (host, event, number) and of broken lines; then judge it."""
    _write(connection, folder / "logs.parquet", LOGS, [_row(log) for log in logs])
    _write(connection, folder / "counts.parquet", COUNTS, counts)
    rows = [(item.host, item.file, item.line, item.reason, item.text) for item in broken]
    _write(connection, folder / "quarantine.parquet", QUARANTINE, rows)
    _judge(source, logs, broken)


#: what the records and the files of a kind of source are called
RECORDS = {
    "json-lines": "log lines",
    "text-lines": "log lines",
    "json-records": "records",
    "csv": "rows",
    "blocks": "blocks",
    "samples": "samples",
}
NAMES = {
    "json-lines": "logs",
    "text-lines": "logs",
    "json-records": "lists",
    "csv": "tables",
    "blocks": "texts",
    "samples": "samples",
}
LOGS = {name: "TEXT" if name == "host" else "BIGINT" for name in Log.__dataclass_fields__}
COUNTS = {"host": "TEXT", "event": "TEXT", "n": "BIGINT"}
QUARANTINE = {"host": "TEXT", "file": "TEXT", "line": "BIGINT", "reason": "TEXT", "text": "TEXT"}


def _row(log: Log) -> tuple[Any, ...]:
    return tuple(getattr(log, name) for name in LOGS)


def _log(host: str, tallies: Sequence[Tally], lost: Sequence[Lost]) -> Log:
    own = [tally for tally in tallies if tally.host == host]
    broken = Counter(item.form for item in lost if item.host == host)
    events = [tally for tally in own if tally.form >= 0]
    dated = [tally for tally in own if tally.form >= OTHER]
    first = min(dated, key=lambda tally: tally.first_seq, default=None)
    last = max(dated, key=lambda tally: tally.last_seq, default=None)
    recognised = min(events, key=lambda tally: tally.first_seq, default=None)
    return Log(
        host,
        sum(tally.rows for tally in own),
        sum(tally.rows for tally in own if tally.form >= OTHER or tally.form == TIMELESS),
        sum(tally.rows for tally in events) - broken[LACKING],
        broken.total(),
        sum(tally.rows for tally in own if tally.form == TEXT),
        first.first_ns if first else None,
        last.last_ns if last else None,
        recognised.first_ns if recognised else None,
    )


def _counts(names: Mapping[int, str], tallies: Sequence[Tally], lost: Sequence[Lost]) -> list[tuple[str, str, int]]:
    """How often each event stands in each host's log."""
    found: Counter[tuple[str, str]] = Counter()
    for tally in tallies:
        if tally.form in names:
            found[tally.host, names[tally.form]] += tally.rows
    found.subtract((item.host, item.event) for item in lost if item.form == LACKING)
    return [(host, event, number) for (host, event), number in sorted(found.items())]


def _write(
    connection: duckdb.DuckDBPyConnection, place: Path, columns: Mapping[str, str], rows: Sequence[tuple[Any, ...]]
) -> None:
    """A small table as Parquet; its columns are lists that are parameters."""
    values = [
        tree.named(exp.Explode(this=tree.cast(exp.Placeholder(this=name), f"{kind}[]")), name)
        for name, kind in columns.items()
    ]
    parameters = {name: [row[index] for row in rows] for index, name in enumerate(columns)}
    target = [exp.Literal.string(str(place))]
    params = [exp.CopyParameter(this=exp.var("FORMAT"), expression=exp.var("parquet"))]
    query = exp.Paren(this=dialect.select(*values))
    copy = exp.Copy(this=query, kind=False, files=target, params=params)
    connection.execute(copy.sql(dialect=dialect.DIALECT, copy=False), parameters)


def _judge(source: Source, logs: Sequence[Log], broken: Sequence[Broken]) -> None:
    """Too many broken lines of a host, or no recognised line in the whole run, end the ingest."""
    problems = []
    for log in logs:
        limit = max(int(source.quarantine.share * log.lines), source.quarantine.at_least)
        if log.quarantined > limit:
            problems.append(_too_many(source, log, limit, [item for item in broken if item.host == log.host]))
    if problems:
        raise AssayError(tuple(problems))
    if not any(log.recognised for log in logs):
        raise _nothing(source, logs)


def _nothing(source: Source, logs: Sequence[Log]) -> AssayError:
    """The error of a run without any recognised line."""
    things = RECORDS[source.kind]
    if not any(log.lines for log in logs):
        return fail(
            "nothing-recognised",
            f"the files of `{source.name}` hold no {things} at all",
            hint="did the run record anything?",
        )
    where = f" of {len(logs)} hosts" if source.hosts else ""
    return fail(
        "nothing-recognised",
        f"none of the {sum(log.lines for log in logs)} {things}{where} is an event that the specs know",
        hint=f"are these {NAMES[source.kind]} of this system? `assay list events` tells the names that are known",
    )


def _too_many(source: Source, log: Log, limit: int, broken: Sequence[Broken]) -> Diagnostic:
    notes = tuple(f"{item.file}:{item.line}: {item.reason}" for item in broken[:3])
    where = f" of host {log.host}" if log.host else ""
    return Diagnostic(
        "too-many-broken-lines",
        f"{log.quarantined} of the {log.lines} {RECORDS[source.kind]}{where} are broken",
        expected=f"at most {limit}",
        found=str(log.quarantined),
        notes=notes,
        hint="the limit stands in the source's definition (`quarantine`)",
    )
