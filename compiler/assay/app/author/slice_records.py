"""Select records of a run beyond those behind a value: neighbours in time, and the first and last ones."""

from __future__ import annotations

import glob
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from assay.engine.connection import open_shared_cursor
from assay.engine.mount import EVENTS
from assay.ingest.event_forms import RequiredFields
from assay.ingest.readers.protocol import Place
from assay.lang.checked_package import CheckedPackage
from assay.runs.model import IngestedRun

Record = tuple[str, Place]
"""An event, and the place of its record."""

#: how many records nearest in time are added, in ever larger selections
NEAREST = (8, 32, 128, 512, 2048, 8192, 32768)

_NEIGHBOURS = """
    SELECT DISTINCT event, host, unnest([
        min(seq), max(seq), max({t: t_ns, seq: seq}) FILTER (t_ns <= $begin).seq,
        min({t: t_ns, seq: seq}) FILTER (t_ns >= $end).seq
    ]) AS seq
    FROM records GROUP BY event, host
"""
_NEAREST = """
    SELECT event, host, seq FROM records
    ORDER BY coalesce(greatest($begin - t_ns, t_ns - $end, 0), 0), t_ns, host, seq, event LIMIT $number
"""
_SPAN = """
    SELECT min(t_ns), max(t_ns)
    FROM records JOIN (SELECT unnest($events) AS event, unnest($hosts) AS host, unnest($seqs) AS seq)
    USING (event, host, seq)
"""
_FIRST = "SELECT event, host, seq FROM records WHERE list_contains($of, event) ORDER BY host, seq, event LIMIT 1"


@dataclass(frozen=True, slots=True)
class RecordFinder:
    """Finds records of the required events of a run."""

    checked: CheckedPackage
    ingested_run: IngestedRun
    required_fields: RequiredFields

    @property
    def limit(self) -> int:
        """The largest number of records that are added."""
        return NEAREST[-1]

    def list_growth(self, records: Collection[Record]) -> Iterator[Callable[[], Iterable[Record]]]:
        """Yield functions that return ever more records around those behind a value."""
        span = self._find_span(records)
        yield partial(self._find, _NEIGHBOURS, span)
        yield from (partial(self._find, _NEAREST, {**span, "number": number}) for number in NEAREST)

    def find_missing_parts(self, records: Collection[Record]) -> frozenset[Record]:
        """Return the first record of each source of which there is none among the records."""
        events = {event for event, _ in records}
        missing: set[Record] = set()
        for part in self.ingested_run.parts:
            source_events = self._list_events(part.source.name)
            if not events & set(source_events):
                missing |= set(self._find(_FIRST, {"of": source_events}))
        return frozenset(missing)

    def _list_events(self, source: str) -> list[str]:
        """Return the required events of a source."""
        return [
            event.name
            for event in self.checked.package.events
            if event.source == source and event.name in self.required_fields
        ]

    def _find_span(self, records: Collection[Record]) -> dict[str, object]:
        """Return the first and last instant of records in ns; None without any."""
        lists = {
            "events": [event for event, _ in records],
            "hosts": [place.host for _, place in records],
            "seqs": [place.seq for _, place in records],
        }
        ((begin, end),) = self._fetch(_SPAN, lists) if records else [(None, None)]
        return {"begin": begin, "end": end}

    def _find(self, query: str, parameters: Mapping[str, object]) -> tuple[Record, ...]:
        rows = self._fetch(query, parameters)
        return tuple((event, Place(host, seq)) for event, host, seq in rows if seq is not None)

    def _fetch(self, query: str, parameters: Mapping[str, object]) -> list[tuple[Any, ...]]:
        """Return the rows of a query over the table `records` of all records of the run's required events."""
        paths = {
            event: f"{glob.escape(str(part.events / EVENTS / event))}/*.parquet"
            for part in self.ingested_run.parts
            for event in self._list_events(part.source.name)
            if part.facts.events.get(event)
        }
        if not paths:
            return []
        selects = [
            f"SELECT $event_{index} AS event, host, seq, t_ns FROM read_parquet($path_{index}) WHERE whole"
            for index, _ in enumerate(paths)
        ]
        names = {f"event_{index}": event for index, event in enumerate(paths)}
        files = {f"path_{index}": path for index, path in enumerate(paths.values())}
        text = f"WITH records AS ({' UNION ALL '.join(selects)}) {query}"
        with open_shared_cursor() as connection:
            return connection.execute(text, {**names, **files, **parameters}).fetchall()
