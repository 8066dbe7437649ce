"""Count the records of a run by name, host and part of the time, also of names that no event has."""

from __future__ import annotations

import glob
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from assay.engine.connection import open_shared_cursor
from assay.engine.mount import EVENTS
from assay.ingest.pipeline import find_records
from assay.ingest.readers.protocol import Place, RawRecord
from assay.judgement.record_rates import PLACES, RunRecords
from assay.lang.model.package import Event
from assay.runs.model import IngestedRun, Part
from assay.util.time_units import SECOND

_COUNT = """
    WITH times AS ($records), ends AS (SELECT min(t_ns) AS low, max(t_ns) AS high FROM times)
    SELECT event, host, least((t_ns - low)::INT128 * $places // (high + 1 - low), $places - 1)::INTEGER AS place,
      count(*) AS n, min(seq) AS first
    FROM times, ends WHERE t_ns IS NOT NULL GROUP BY ALL ORDER BY ALL
"""


@dataclass(frozen=True, slots=True)
class CountedRecords:
    """The records of a run, and where the first one of each name is: its source, host and place."""

    records: RunRecords
    first: Mapping[str, tuple[str, Place]]


def count_records(
    events: Mapping[str, Event], ingested_run: IngestedRun, rows: int, *, with_times: bool = True
) -> CountedRecords:
    """Count the records of a run, which has so many `rows`, of all names that its logs have.

    Times are known of the events that were needed before; without `with_times` they are not read. An event with several
    names is one name: its own. Records without a name, and malformed ones, are left out, since findings on the data
    list them.
    """
    by_host: defaultdict[str, dict[str, int]] = defaultdict(dict)
    by_place: defaultdict[str, dict[tuple[int, str], int]] = defaultdict(dict)
    first: dict[str, tuple[str, Place]] = {}
    for part in ingested_run.parts:
        for event, hosts in part.facts.by_host.items():
            by_host[name_event(events[event])] = dict(hosts)
        for event, host, place, number, seq in _count_events(part) if with_times else ():
            name = name_event(events[event])
            by_place[name][place, host] = number
            first.setdefault(name, (part.source.name, Place(host, seq)))
        for item in part.facts.unknown:
            if item.name and not item.malformed:
                by_host[item.name][item.host] = by_host[item.name].get(item.host, 0) + item.n
                first.setdefault(item.name, (part.source.name, Place(item.host, item.first_seq)))
    names = tuple(sorted({log.host for log in ingested_run.logs}))
    starts = [log.first_ns for log in ingested_run.logs if log.first_ns is not None]
    ends = [log.last_ns for log in ingested_run.logs if log.last_ns is not None]
    seconds = max(1, (max(ends, default=0) - min(starts, default=0)) // SECOND)
    return CountedRecords(RunRecords(rows, seconds, names, dict(by_host), dict(by_place)), first)


def name_event(event: Event) -> str:
    """Return the name of the records of an event: its only one, or the name of the event."""
    names = {name.name for form in event.forms for name in form.names}
    return names.pop() if len(names) == 1 else event.name


def read_first_record(counted: CountedRecords, ingested_run: IngestedRun, name: str) -> RawRecord | None:
    """Return the first record of a name; None if its place is not known. Raises AssayError if the file changed."""
    if name not in counted.first:
        return None
    source, place = counted.first[name]
    part = next(item for item in ingested_run.parts if item.source.name == source)
    return find_records(part.source, part.files, [place])[place]


def _count_events(part: Part) -> Iterator[tuple[str, str, int, int, int]]:
    """Yield event, host, part of the time, number of records and the first of them, of the events that are stored."""
    files = {event: part.events / EVENTS / event for event in part.facts.by_host}
    paths = {
        event: f"{glob.escape(str(folder))}/*.parquet"
        for event, folder in files.items()
        if any(folder.glob("*.parquet"))
    }
    if not paths:
        return
    selects = (
        f"SELECT $event_{index} AS event, host, seq, t_ns FROM read_parquet($path_{index})"
        for index in range(len(paths))
    )
    parameters: dict[str, object] = {"places": PLACES}
    parameters |= {f"event_{index}": event for index, event in enumerate(paths)}
    parameters |= {f"path_{index}": path for index, path in enumerate(paths.values())}
    query = _COUNT.replace("$records", " UNION ALL ".join(selects))
    with open_shared_cursor() as connection:
        yield from connection.execute(query, parameters).fetchall()
