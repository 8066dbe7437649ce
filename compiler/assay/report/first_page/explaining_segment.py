"""Find the segment of a metric that most of its change comes from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

LEAST_SHARE = 0.5
LEAST_FACTOR = 2  # a segment changes so much more than the other samples


@dataclass(frozen=True, slots=True)
class SegmentChange:
    """The averages of a metric, or of one of its segments, in two versions, and its number of samples in the second."""

    metric: str
    base: float
    value: float
    size: int

    @property
    def total(self) -> float:
        """The change of the sum of its samples, at the number of the second version."""
        return self.size * (self.value - self.base)


def create_segment_change(
    metric: str, averages: Sequence[float | None], sizes: tuple[int, int] | None
) -> SegmentChange | None:
    """Return the change of a metric; None without an average in both versions, and for a formula."""
    base, value = averages
    return None if base is None or value is None or sizes is None else SegmentChange(metric, base, value, sizes[1])


def find_explaining_segment(whole: SegmentChange | None, segments: Iterable[SegmentChange | None]) -> str:
    """Return the id of the segment that explains the change of the whole metric; empty if none does.

    At least half of the change is in its samples, and their average changes at least twice as much as that of all other
    samples.
    """
    if whole is None or not whole.total:
        return ""
    candidates = [item for item in segments if item and item.size]
    largest = max(candidates, key=lambda item: item.total / whole.total, default=None)
    if largest is None or largest.total / whole.total < LEAST_SHARE:
        return ""
    others = whole.size - largest.size
    rest = (whole.total - largest.total) / others if others > 0 else 0.0
    change = largest.total / largest.size
    return largest.metric if others > 0 and abs(change) >= LEAST_FACTOR * abs(rest) else ""
