"""Query the times of a run's records at once: whether clocks went back, what time logs cover, and where they pause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from assay.quality.clock_steps import build_clock_statement
from assay.quality.extents import LogExtent, list_extents, widen_extents
from assay.quality.finding import Finding
from assay.quality.gaps import find_gaps, read_silences
from assay.runs.model import IngestedRun
from assay.sql.codegen import Statement
from assay.sql.gaps import measure_extents, measure_gaps

EventsBySource = Mapping[str, Sequence[str]]
Rows = Mapping[str, Sequence[Mapping[str, object]]]
Extents = Mapping[str, Sequence[LogExtent]]

#: beginnings of the names of statements; the source follows
_EXTENTS, _GAPS = "extents ", "gaps "


def build_time_statements(events: EventsBySource, uneven: EventsBySource) -> tuple[Statement, ...]:
    """Return the statements on the times of events; on gaps only for those of which hosts have `uneven` records."""
    clocks = (build_clock_statement(source, names) for source, names in events.items())
    extents = (Statement("count", f"{_EXTENTS}{source}", measure_extents(names)) for source, names in events.items())
    gaps = (Statement("count", f"{_GAPS}{source}", measure_gaps(names)) for source, names in uneven.items())
    return (*clocks, *extents, *gaps)


def read_extents(ingested_run: IngestedRun, times: Rows) -> Extents:
    """Return the extents of the logs of each source; `times` are the rows of the statements."""
    return {
        part.source.name: widen_extents(list_extents(part.facts.logs), times.get(f"{_EXTENTS}{part.source.name}", ()))
        for part in ingested_run.parts
    }


def iter_gaps(times: Rows, readers: Mapping[str, Sequence[str]]) -> Iterator[Finding]:
    """Yield the hosts that wrote nothing for a long time; `readers` are the metrics that read each source."""
    for name, rows in times.items():
        if name.startswith(_GAPS):
            yield from find_gaps(read_silences(rows), readers.get(name.removeprefix(_GAPS), ()))
