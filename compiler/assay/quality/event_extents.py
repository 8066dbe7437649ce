"""Find the events of compared runs whose records end long before their run does, unlike in another run."""

from __future__ import annotations

import glob
from collections.abc import Mapping, Sequence

from sqlglot import exp

from assay.engine.connection import open_shared_cursor
from assay.lang.model.package import Event
from assay.quality.ended_events import EventExtent, find_ended_event, find_longest
from assay.quality.extents import RunExtent
from assay.quality.finding import Finding
from assay.quality.quality_plan import count_records_by_host, iter_event_files
from assay.runs.model import IngestedRun
from assay.sql import dialect
from assay.sql.dialect import build_column, build_scan


def find_ended_events(
    ingested_runs: Sequence[IngestedRun],
    extents: Sequence[Sequence[RunExtent]],
    events: Sequence[Event],
    readers: Mapping[str, Sequence[str]],
) -> tuple[tuple[Finding, ...], ...]:
    """Return the findings on each run; `extents` are those of its sources, `readers` the metrics by event.

    Instants are read only of events of which a run has far fewer records than another.
    """
    findings: list[list[Finding]] = [[] for _ in ingested_runs]
    counts_by_run = [count_records_by_host(item) for item in ingested_runs]
    for event in events:
        counts = [sum(counts.get(event.name, {}).values()) for counts in counts_by_run]
        longest = find_longest(counts) if event.name in readers else None
        if longest is None:
            continue
        measured = [
            _measure_extent(item, event, run_extents, count)
            for item, run_extents, count in zip(ingested_runs, extents, counts, strict=True)
        ]
        if reference := measured[longest]:
            for listed, extent in zip(findings, measured, strict=True):
                listed += find_ended_event(event.name, extent, reference, readers[event.name]) if extent else ()
    return tuple(map(tuple, findings))


def _measure_extent(
    ingested_run: IngestedRun, event: Event, extents: Sequence[RunExtent], count: int
) -> EventExtent | None:
    """Return the extent of an event in a run; None if its records have no instants."""
    run = next((item for item in extents if item.source == event.source), None)
    query = dialect.select(exp.Max(this=build_column("t_ns")))
    with open_shared_cursor() as connection:
        rows = [
            connection.execute(dialect.to_sql(query.from_(build_scan(glob.escape(str(path)))))).fetchone()
            for path in iter_event_files(ingested_run, event.name)
        ]
    instants = [row[0] for row in rows if row and row[0] is not None]
    return EventExtent(run, count, max(instants)) if run and instants else None
