"""Compare the segments of a metric that have too few samples for a verdict each, such as benchmarks of one sample.

Each segment is paired with itself in the other version: r_i is the ratio of its averages. What differs between
segments, such as 5 ns of one benchmark and 5 s of another, cancels. Their geometric mean weighs all alike (Fleming and
Wallace 1986), and the interval shows by how much segments differ in their change:

    G    = exp(L)                    L = the mean of ln r_i, i = 1 ... n
    e^2  = sum (ln r_i - L)^2 / (n (n - 1))
    G exp(± t(n - 1) e)

It does not hold by how much a segment varies from run to run, which one sample does not show. Nor does it hold by how
much all of them vary together, as on a slower day: so there is no verdict on the geometric mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from assay.judgement.change import Interval, RatioChange, compute_log, raise_e
from assay.judgement.interval import Reason
from assay.judgement.student_t import floor_to_even
from assay.judgement.verdict import Margin
from assay.util.percent_change import compute_percent_change

LEAST_PAIRS = 3
#: why segments are not judged that may be paired: they have few samples, or no time
FEW_SAMPLES = (Reason.NO_TIME, Reason.ONE_VALUE, Reason.ONE_UNIT, Reason.FEW_SAMPLES, Reason.TOO_FEW_UNITS)


@dataclass(frozen=True, slots=True)
class SegmentPair:
    """The averages of a segment in both versions, which are above 0, and its numbers of samples."""

    metric: str
    base: Fraction
    value: Fraction
    sizes: tuple[int, int]

    @property
    def percent(self) -> float:
        """The change in percent."""
        return float(compute_percent_change(self.base, self.value))


@dataclass(frozen=True, slots=True)
class PairedSegments:
    """The changes of segments that are not judged each.

    `samples` is how many each of the `count` segments has in each version. `rises` and `falls` are those that changed
    by more than the margin, the largest changes first. `mean` is the change of the geometric mean in percent with its
    interval; None if all segments changed alike.
    """

    count: int
    samples: int
    rises: tuple[SegmentPair, ...]
    falls: tuple[SegmentPair, ...]
    mean: tuple[float, Interval] | None

    def to_json(self) -> dict[str, Any]:
        """Return the member `paired` of a change in `results.json`."""
        percent, interval = self.mean or (None, None)
        return {
            "segments": self.count,
            "samples": self.samples,
            "rises": {pair.metric: pair.percent for pair in self.rises},
            "falls": {pair.metric: pair.percent for pair in self.falls},
            "percent": percent,
            "low": interval.low if interval else None,
            "high": interval.high if interval else None,
        }


def pair_segments(pairs: Sequence[SegmentPair], margin: Margin, level: float = 0.95) -> PairedSegments | None:
    """Return what segments of equally many samples show together; None for fewer than three, or for other numbers."""
    sizes = {size for pair in pairs for size in pair.sizes}
    if len(pairs) < LEAST_PAIRS or len(sizes) > 1:
        return None
    beyond = sorted(
        (pair for pair in pairs if abs(pair.percent) > margin.convert_to_percent(float(pair.base))), key=_rank
    )
    return PairedSegments(
        len(pairs),
        sizes.pop(),
        tuple(pair for pair in beyond if pair.percent > 0),
        tuple(pair for pair in beyond if pair.percent < 0),
        _estimate_mean(pairs, level),
    )


def _rank(pair: SegmentPair) -> tuple[float, str]:
    return -abs(pair.percent), pair.metric


def _estimate_mean(pairs: Sequence[SegmentPair], level: float) -> tuple[float, Interval] | None:
    """Return the change of the geometric mean in percent with its interval; None if all segments changed alike."""
    logs = [compute_log(pair.value / pair.base) for pair in pairs]
    count = len(logs)
    mean = math.fsum(logs) / count
    variance = math.fsum((item - mean) ** 2 for item in logs) / (count * (count - 1))
    if not variance:
        return None
    change = RatioChange(100 * (raise_e(mean) - 1), math.sqrt(variance), floor_to_even(count - 1))
    return change.value, change.compute_interval(level)
