"""Find the hosts whose logs end long before those of other hosts or runs, and the runs that cover less than others."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.engine.mount import HostLog
from assay.lang.scopes import HOST
from assay.quality.finding import MAX_LISTED_NAMES, SHORT_LOG, SHORT_RUN, Finding, format_metric_list, list_hosts
from assay.sql.gaps import FIRST, LAST, OUTSIDE, RECORDS
from assay.util.numbers import format_count
from assay.util.time_units import SECOND

#: a log ends early if it does by this many of its own mean gaps and by this share of the others' duration
EARLY_GAPS, EARLY_SHARE = 20, 0.1
#: a log with at least this share of the others' records may only be faster, unless the duration lacks this share
ALL_RECORDS, EARLY_SHARE_OF_ALL = 0.9, 1 / 3
#: the mean gap between fewer records says little
LEAST_RECORDS = 20
#: a run ends early if its duration and its number of records are below this share of those of another run
SHORT_SHARE = 0.6
#: share of the records outside of the first and the last one above which a log is not in the order of time
LEAST_OUTSIDE = 0.01


@dataclass(frozen=True, slots=True)
class LogExtent:
    """The part of time that the log of a host covers, in ns since 1970, and the number of its records."""

    host: str
    first_ns: int
    last_ns: int
    records: int

    @property
    def duration_ns(self) -> int:
        """Return the time between the first and the last record."""
        return self.last_ns - self.first_ns


@dataclass(frozen=True, slots=True)
class RunExtent:
    """The extents of the logs of a run in a source, at least one; `label` names the run."""

    label: str
    source: str
    logs: tuple[LogExtent, ...]

    @property
    def last_ns(self) -> int:
        """Return the instant of the last record."""
        return max(item.last_ns for item in self.logs)

    @property
    def duration_ns(self) -> int:
        """Return the time between the first and the last record of all hosts."""
        return self.last_ns - min(item.first_ns for item in self.logs)

    @property
    def records(self) -> int:
        """Return the number of records of all hosts."""
        return sum(item.records for item in self.logs)

    @property
    def usual_duration_ns(self) -> float:
        """Return the median duration of a log."""
        return statistics.median(item.duration_ns for item in self.logs)

    @property
    def usual_records(self) -> float:
        """Return the median number of records of a log."""
        return statistics.median(item.records for item in self.logs)


def list_extents(logs: Sequence[HostLog]) -> tuple[LogExtent, ...]:
    """Return the extents of the logs with events whose records have instants, by their first and last records.

    Where a clock was set back, the last record of a log may be earlier than the first.
    """
    return tuple(
        LogExtent(log.host, min(log.first_ns, log.last_ns), max(log.first_ns, log.last_ns), log.objects)
        for log in logs
        if log.recognised and log.first_ns is not None and log.last_ns is not None
    )


def create_run_extent(label: str, source: str, logs: Sequence[LogExtent]) -> RunExtent | None:
    """Return the extent of a run in a source; None if no record has an instant."""
    return RunExtent(label, source, tuple(logs)) if logs else None


def widen_extents(extents: Sequence[LogExtent], rows: Sequence[Mapping[str, object]]) -> tuple[LogExtent, ...]:
    """Return extents that cover all records of logs that are not in the order of time.

    Such a log may be sorted by another field. `rows` are those of `sql.gaps.measure_extents`. A few records outside of
    the first and the last one may have wrong instants.
    """
    unordered = {
        str(row[HOST] or ""): (int(str(row[FIRST])), int(str(row[LAST])))
        for row in rows
        if row[FIRST] is not None and int(str(row[OUTSIDE])) > LEAST_OUTSIDE * int(str(row[RECORDS]))
    }
    return tuple(
        replace(
            item,
            first_ns=min(item.first_ns, unordered[item.host][0]),
            last_ns=max(item.last_ns, unordered[item.host][1]),
        )
        if item.host in unordered
        else item
        for item in extents
    )


def find_short_logs(extents: Sequence[LogExtent], metrics: Sequence[str]) -> Iterator[Finding]:
    """Find the hosts of a source whose logs end long before the others'; `metrics` read the source.

    A host that begins after the others may join on purpose.
    """
    gaps = {item.host: gap for item in extents if (gap := _measure_gap(item, extents))}
    if gaps:
        hosts = tuple(gaps)
        short = [item.records for item in extents if item.host in gaps]
        whole = [item.records for item in extents if item.host not in gaps]
        end = "ends" if len(hosts) == 1 else "end up to"
        records = f"{', '.join(map(str, short[:MAX_LISTED_NAMES]))} records, the others {statistics.median(whole):g}"
        time = f"{end} {format_seconds(max(gaps.values()))} before the others"
        message = f"{list_hosts(hosts)} {time} ({records}){format_metric_list(metrics)}."
        yield Finding(SHORT_LOG, message, tuple(metrics), hosts, affected=len(hosts), total=len(extents))


def _measure_gap(extent: LogExtent, extents: Sequence[LogExtent]) -> float:
    """Return how long before the median of the others a log ends, in ns; 0 if that may be usual.

    The log that ends last has no gap.
    """
    others = [item for item in extents if item.host != extent.host]
    if not others or extent.records < LEAST_RECORDS:
        return 0
    gap = statistics.median_low(item.last_ns for item in others) - extent.last_ns
    usual_gap = extent.duration_ns / (extent.records - 1)
    has_all = extent.records >= ALL_RECORDS * statistics.median(item.records for item in others)
    share = EARLY_SHARE_OF_ALL if has_all else EARLY_SHARE
    duration = statistics.median(item.duration_ns for item in others)
    return gap if gap > max(share * duration, EARLY_GAPS * usual_gap) else 0


def find_short_runs(
    extents: Sequence[Sequence[RunExtent]], readers: Mapping[str, Sequence[str]]
) -> tuple[tuple[Finding, ...], ...]:
    """Return the findings on each run that covers far less than the longest run does, or of which many logs do.

    `extents` has those of each run by source, `readers` the metrics that read each source. A run that has all records
    in less time is only faster.
    """
    return tuple(tuple(_list_short(run_extents, extents, readers)) for run_extents in extents)


def _list_short(
    run_extents: Sequence[RunExtent], extents: Sequence[Sequence[RunExtent]], readers: Mapping[str, Sequence[str]]
) -> Iterator[Finding]:
    for extent in run_extents:
        alike = [item for items in extents for item in items if item.source == extent.source]
        longest = max(alike, key=lambda item: item.duration_ns)
        metrics = readers.get(extent.source, ())
        if not metrics or longest.records < LEAST_RECORDS:
            continue
        pairs = ((extent.duration_ns, longest.duration_ns), (extent.records, longest.records))
        if all(part < SHORT_SHARE * whole for part, whole in pairs):
            covered = f"{format_seconds(extent.duration_ns)} with {format_count(extent.records, 'record')}"
            other = f"{longest.label} {format_seconds(longest.duration_ns)} with {longest.records}"
            message = f"the run covers {covered}, {other}{format_metric_list(metrics)}."
            yield Finding(SHORT_RUN, message, tuple(metrics), affected=extent.records, total=longest.records)
        else:
            yield from _find_logs_shorter_than(max(alike, key=lambda item: item.usual_duration_ns), extent, metrics)


def _find_logs_shorter_than(reference: RunExtent, run: RunExtent, metrics: Sequence[str]) -> Iterator[Finding]:
    """Find the hosts whose logs end early in a run, measured by the usual log of another run.

    `find_short_logs` compares a log with the others of its run, so it cannot see that half of them or more end early.
    It reports a smaller part. Hosts whose logs end early in both runs do so on purpose.
    """
    usual = set(_list_early_hosts(reference, reference))
    early = _list_early_hosts(reference, run)
    hosts = tuple(host for host in early if host not in usual)
    is_reported = all(_measure_gap(item, run.logs) for item in run.logs if item.host in hosts)
    if not hosts or is_reported or len(early) <= len(usual):
        return
    logs = [item for item in run.logs if item.host in hosts]
    gap = max(run.last_ns - item.last_ns for item in logs)
    end = "ends" if len(hosts) == 1 else "end up to"
    records = ", ".join(str(item.records) for item in logs[:MAX_LISTED_NAMES])
    message = (
        f"{list_hosts(hosts)} {end} {format_seconds(gap)} before the last record ({records} records, half of the "
        f"hosts of {reference.label} {reference.usual_records:g} or more){format_metric_list(metrics)}."
    )
    yield Finding(SHORT_LOG, message, tuple(metrics), hosts, affected=len(hosts), total=len(run.logs))


def _list_early_hosts(reference: RunExtent, run: RunExtent) -> list[str]:
    """Return the hosts of a run that lack much of the time and of the records of the usual log of `reference`."""
    least_gap = (1 - SHORT_SHARE) * reference.usual_duration_ns
    least_records = SHORT_SHARE * reference.usual_records
    return [item.host for item in run.logs if run.last_ns - item.last_ns > least_gap and item.records < least_records]


def format_seconds(duration_ns: float) -> str:
    """Return a duration in words: `300 s`, `2.5 s`."""
    seconds = duration_ns / SECOND
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.2g} s"
