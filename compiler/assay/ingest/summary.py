"""What an ingested run's logs hold, host by host; broken lines with their texts; the limit of what is borne."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlglot import exp

from assay.ingest import extract
from assay.ingest.extract import Wanted
from assay.ingest.files import HostFiles, RunFiles
from assay.ingest.quarantine import Broken, describe
from assay.spec.diagnostics import AssayError, Diagnostic, fail
from assay.spec.model import Event, Source
from assay.sql import dialect
from assay.sql.dialect import column
from assay.sql.events import parquet

BROKEN = (extract.BROKEN, extract.TIMELESS, extract.LACKING)


def write_summary(source: Source, events: Sequence[Event], wanted: Wanted, files: RunFiles, folder: Path) -> None:
    """Write logs.parquet, counts.parquet, quarantine.parquet; AssayError when more is broken than the source bears."""
    import duckdb

    every = parquet(str(folder / "events" / "*.parquet")).subquery(alias="rows")
    with duckdb.connect() as connection:
        connection.sql(dialect.text(_logs(every))).write_parquet(str(folder / "logs.parquet"))
        connection.sql(dialect.text(_counts(every))).write_parquet(str(folder / "counts.parquet"))
        lost = connection.execute(dialect.text(_broken(every))).fetchall()
        totals = connection.execute(dialect.text(_totals(folder))).fetchall()
    by_host = {host.host: host for host in files.hosts}
    found = describe(source, events, wanted, by_host, lost)
    _write_quarantine(found, folder)
    _judge(source, totals, found)


def _count(condition: exp.Expr) -> exp.Expr:
    return exp.Count(this=exp.Case(ifs=[exp.If(this=condition, true=dialect.integer(1))]))


def _state_in(*states: int) -> exp.Expr:
    return exp.In(this=column("state"), expressions=[dialect.integer(state) for state in states])


def _edge(last: bool, of: exp.Expr) -> exp.Expr:
    """The instant of the first or last row, by place in the log, among those that have one and fulfil `of`."""
    instant = exp.Case(ifs=[exp.If(this=of, true=column("t_ns"))])
    kind = exp.ArgMax if last else exp.ArgMin
    return kind(this=instant, expression=column("seq"))


def _logs(every: exp.Subquery) -> exp.Select:
    objects = _state_in(extract.EVENT, extract.OTHER, extract.TIMELESS, extract.LACKING)
    return (
        exp.select(
            "host",
            exp.alias_(exp.Count(this=exp.Star()), "lines"),
            exp.alias_(_count(objects), "objects"),
            exp.alias_(_count(_state_in(extract.EVENT)), "recognised"),
            exp.alias_(_count(_state_in(*BROKEN)), "quarantined"),
            exp.alias_(_count(_state_in(extract.TEXT)), "text_lines"),
            exp.alias_(_edge(False, objects.copy()), "first_ns"),
            exp.alias_(_edge(True, objects.copy()), "last_ns"),
            exp.alias_(_edge(False, _state_in(extract.EVENT)), "first_recognised_ns"),
        )
        .from_(every)
        .group_by("host")
        .order_by("host")
    )


def _counts(every: exp.Subquery) -> exp.Select:
    """How often each event stands in each host's log."""
    return (
        exp.select("host", "event", exp.alias_(exp.Count(this=exp.Star()), "n"))
        .from_(every.copy())
        .where(_state_in(extract.EVENT))
        .group_by("host", "event")
        .order_by("host", "event")
    )


def _broken(every: exp.Subquery) -> exp.Select:
    return (
        exp.select("host", "seq", "state", "event")
        .from_(every.copy())
        .where(_state_in(*BROKEN))
        .order_by("host", "seq")
    )


def _totals(folder: Path) -> exp.Select:
    logs = parquet(str(folder / "logs.parquet")).subquery(alias="logs")
    return exp.select("host", "lines", "recognised", "quarantined").from_(logs).order_by("host")


def _write_quarantine(found: Sequence[Broken], folder: Path) -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE quarantine (host TEXT, file TEXT, line BIGINT, reason TEXT, text TEXT)")
        if found:
            rows = [(item.host, item.file, item.line, item.reason, item.text) for item in found]
            connection.executemany("INSERT INTO quarantine VALUES (?, ?, ?, ?, ?)", rows)
        connection.table("quarantine").write_parquet(str(folder / "quarantine.parquet"))


def _judge(source: Source, totals: Sequence[Sequence[Any]], found: Sequence[Broken]) -> None:
    """Too many broken lines of a host, or no recognised line in the whole run, end the ingest."""
    problems = []
    for host, lines, _recognised, lost in totals:
        limit = max(int(source.quarantine.share * lines), source.quarantine.at_least)
        if lost > limit:
            problems.append(_too_many(host, lines, lost, limit, [item for item in found if item.host == host]))
    if problems:
        raise AssayError(tuple(problems))
    if not any(recognised for _, _, recognised, _ in totals):
        lines = sum(row[1] for row in totals)
        raise fail(
            "nothing-recognised",
            f"none of the {lines} log lines of {len(totals)} hosts is an event that the specs know",
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


__all__ = ["HostFiles", "Mapping", "write_summary"]
