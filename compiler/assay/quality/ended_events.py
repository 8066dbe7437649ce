"""Find events whose records end long before their run does, unlike in another run: logging or the work stopped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.quality.extents import EARLY_GAPS, EARLY_SHARE, LEAST_RECORDS, SHORT_SHARE, RunExtent, format_seconds
from assay.quality.finding import SHORT_RUN, Finding, format_metric_list


@dataclass(frozen=True, slots=True)
class EventExtent:
    """The number of records of an event in a run, and the instant of the last; `run` has the extent of its source."""

    run: RunExtent
    records: int
    last_ns: int

    @property
    def rest_ns(self) -> int:
        """Return the time from the last record of the event to that of the run."""
        return self.run.last_ns - self.last_ns

    @property
    def usual_gap_ns(self) -> float:
        """Return the mean time between records of the event."""
        return (self.run.duration_ns - self.rest_ns) / self.records


def find_longest(counts: Sequence[int]) -> int | None:
    """Return the run with most records of an event if some run has far fewer; None if none has."""
    most = max(counts, default=0)
    return counts.index(most) if any(LEAST_RECORDS <= count < SHORT_SHARE * most for count in counts) else None


def find_ended_event(
    event: str, extent: EventExtent, longest: EventExtent, metrics: Sequence[str]
) -> Iterator[Finding]:
    """Find whether the records of an event end early, and those of the run with most records do not."""
    is_short = LEAST_RECORDS <= extent.records < SHORT_SHARE * longest.records
    least_rest = max((1 - SHORT_SHARE) * extent.run.duration_ns, EARLY_GAPS * extent.usual_gap_ns)
    if is_short and extent.rest_ns > least_rest and longest.rest_ns < EARLY_SHARE * longest.run.duration_ns:
        time = (
            f"{format_seconds(extent.rest_ns)} before the run ({extent.records}, {longest.run.label} {longest.records})"
        )
        message = f"the `{event}` records end {time}{format_metric_list(metrics)}."
        yield Finding(SHORT_RUN, message, tuple(metrics), event=event, affected=extent.records, total=longest.records)
