"""Find the names of records that are new, gone or written at another rate in a version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.app.compute.computation import RunResult
from assay.app.judge.repeats import list_versions
from assay.ingest.readers.protocol import RawRecord
from assay.judgement.record_rates import Presence, RecordChange, RunRecords, compare_records
from assay.lang.model.package import Package
from assay.quality.record_counts import CountedRecords, count_records, read_first_record
from assay.runs.model import IngestedRun


@dataclass(frozen=True, slots=True)
class RecordDifference:
    """A name whose records differ between two versions, with the first record of one that is new or gone."""

    change: RecordChange
    first: RawRecord | None


def compare_record_names(
    package: Package, metric: str, results: Sequence[RunResult], level: float
) -> dict[str, tuple[RecordDifference, ...]]:
    """Return the names that differ in each version after the first, by version; rates are per sample of a metric."""
    events = {event.name: event for event in package.events}
    counted: dict[str, list[tuple[IngestedRun, CountedRecords]]] = {}
    for result in results:
        size = result.results.metrics[metric].size if metric in result.results.metrics else 0
        if size:
            version = result.ingested_run.run.version or result.id
            item = result.ingested_run, count_records(events, result.ingested_run, size)
            counted.setdefault(version, []).append(item)
    names = [item.id for item in list_versions(results)]
    base = counted.get(names[0], [])
    differences = {}
    for name in names[1:]:
        if base and (other := counted.get(name)):
            changes = compare_records([item.records for _, item in base], [item.records for _, item in other], level)
            differences[name] = tuple(_add_first(change, base, other) for change in changes)
    return differences


def list_one_sided_names(package: Package, results: Sequence[RunResult]) -> dict[str, tuple[RecordChange, ...]]:
    """Return the names of records that only the first version or only another one has, by the id of the other."""
    events = {event.name: event for event in package.events}
    counted: dict[str, list[RunRecords]] = {}
    for result in results:
        records = count_records(events, result.ingested_run, 1, with_times=False).records
        counted.setdefault(result.ingested_run.run.version or result.id, []).append(records)
    base, *others = counted.items()
    changes = {version: compare_records(base[1], runs) for version, runs in others}
    return {
        version: tuple(item for item in items if item.presence is not Presence.CHANGED)
        for version, items in changes.items()
    }


def _add_first(
    change: RecordChange,
    base: Sequence[tuple[IngestedRun, CountedRecords]],
    other: Sequence[tuple[IngestedRun, CountedRecords]],
) -> RecordDifference:
    if change.presence is Presence.CHANGED:
        return RecordDifference(change, None)
    runs = base if change.presence is Presence.GONE else other
    records = (read_first_record(counted, run, change.name) for run, counted in runs)
    return RecordDifference(change, next(filter(None, records), None))
