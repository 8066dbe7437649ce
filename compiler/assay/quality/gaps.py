"""Find hosts that wrote no records for a long time, while others did: a restart, or a part of a log that is missing."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.quality.extents import EARLY_GAPS, EARLY_SHARE, LEAST_RECORDS, format_seconds
from assay.quality.finding import LOG_GAP, Finding, RunQuality, format_metric_list, list_hosts
from assay.sql.gaps import BEGIN, DURATION, GAP, RECORDS

#: a host lacks records if it has less than this share of the median of all hosts: only then gaps are measured
FEWER = 0.95
#: gaps of which the others have half the length, at the median, are usual
USUAL_SHARE = 0.5
#: gaps are also usual if those of the others overlap them by this share, at the median: there was little to write
OVERLAP_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Silence:
    """The records on a host: their number, the time that they cover, and the longest gap with its begin."""

    host: str
    records: int
    duration_ns: int
    begin_ns: int
    gap_ns: int

    def measure_overlap(self, other: Silence) -> int:
        """Return how long the gap and that of another host are at the same time."""
        ends = (self.begin_ns + self.gap_ns, other.begin_ns + other.gap_ns)
        return max(0, min(ends) - max(self.begin_ns, other.begin_ns))

    @property
    def usual_gap_ns(self) -> float:
        """Return the mean gap outside of the longest."""
        return (self.duration_ns - self.gap_ns) / max(1, self.records - 2)


def is_uneven(counts: Mapping[str, int]) -> bool:
    """Return whether a host has fewer records of an event than the others; `counts` are by host."""
    numbers = [number for number in counts.values() if number]
    return len(numbers) > 1 and min(numbers) < FEWER * statistics.median(numbers)


def read_silences(rows: Sequence[Mapping[str, object]]) -> tuple[Silence, ...]:
    """Return the rows of `sql.gaps.measure_gaps`."""
    return tuple(
        Silence(str(row["host"]), *(int(str(row[name] or 0)) for name in (RECORDS, DURATION, BEGIN, GAP)))
        for row in rows
        if row[RECORDS]
    )


def find_gaps(silences: Sequence[Silence], metrics: Sequence[str]) -> Iterator[Finding]:
    """Find the hosts of a source with a gap in the records that metrics need."""
    gaps = {item.host: item.gap_ns for item in silences if _has_gap(item, silences)}
    if gaps:
        hosts = tuple(gaps)
        time = f"{'' if len(hosts) == 1 else 'up to '}{format_seconds(max(gaps.values()))}"
        message = f"{list_hosts(hosts)} wrote no record for {time}, unlike the others{format_metric_list(metrics)}."
        yield Finding(LOG_GAP, message, tuple(metrics), hosts, affected=len(hosts), total=len(silences))


def _has_gap(silence: Silence, items: Sequence[Silence]) -> bool:
    """Return whether a host has an unusual gap, by its own records and by those of the others."""
    others = [item for item in items if item.host != silence.host]
    if not others or silence.records < LEAST_RECORDS:
        return False
    least = max(EARLY_SHARE * statistics.median(item.duration_ns for item in others), EARLY_GAPS * silence.usual_gap_ns)
    gap, overlap = (
        statistics.median(lengths)
        for lengths in ([item.gap_ns for item in others], [silence.measure_overlap(item) for item in others])
    )
    is_unusual = gap < USUAL_SHARE * silence.gap_ns and overlap < OVERLAP_SHARE * silence.gap_ns
    return silence.gap_ns > least and is_unusual


def excuse_usual_gaps(qualities: Sequence[RunQuality]) -> tuple[RunQuality, ...]:
    """Return the qualities of runs, in which gaps are notes if all runs have some: they belong to the test."""
    if not all(LOG_GAP in item.codes for item in qualities):
        return tuple(qualities)
    return tuple(
        replace(
            quality,
            findings=tuple(item for item in quality.findings if item.code != LOG_GAP),
            notes=(*quality.notes, *(item for item in quality.findings if item.code == LOG_GAP)),
        )
        for quality in qualities
    )
