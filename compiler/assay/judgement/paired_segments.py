"""Compare the segments of a metric that have too few samples for a verdict each, such as benchmarks of one sample.

Each segment is paired with itself in the other version: r_i is the ratio of its averages. What differs between
segments, such as 5 ns of one benchmark and 5 s of another, cancels. Their geometric mean weighs all alike (Fleming and
Wallace 1986), and the interval shows by how much segments differ in their change:

    G    = exp(L)                    L = the mean of ln r_i, i = 1 ... n
    e^2  = sum (ln r_i - L)^2 / (n (n - 1))
    G exp(± t(n - 1) e)

It does not hold by how much a segment varies from run to run, which one sample does not show.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from assay.judgement.change import RatioChange, compute_log, raise_e
from assay.judgement.interval import Comparison, Component, Reason, Spread
from assay.judgement.student_t import floor_to_even
from assay.judgement.verdict import Direction, Judgement, Margin, judge
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
    by more than the margin, the largest changes first. `judgement` is that of the geometric mean.
    """

    count: int
    samples: int
    rises: tuple[SegmentPair, ...]
    falls: tuple[SegmentPair, ...]
    judgement: Judgement

    def to_json(self) -> dict[str, Any]:
        """Return the member `paired` of a change in `results.json`."""
        comparison, interval = self.judgement.comparison, self.judgement.interval
        return {
            "segments": self.count,
            "samples": self.samples,
            "rises": {pair.metric: pair.percent for pair in self.rises},
            "falls": {pair.metric: pair.percent for pair in self.falls},
            "verdict": self.judgement.verdict.value,
            "percent": comparison.judged.value if comparison else None,
            "low": interval.low if interval else None,
            "high": interval.high if interval else None,
        }


def pair_segments(
    pairs: Sequence[SegmentPair], margin: Margin, direction: Direction, level: float = 0.95
) -> PairedSegments | None:
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
        judge(_compare_means(pairs), Margin(margin.percent), direction, level),
    )


def _rank(pair: SegmentPair) -> tuple[float, str]:
    return -abs(pair.percent), pair.metric


def _compare_means(pairs: Sequence[SegmentPair]) -> Comparison | Reason:
    """Return the change of the geometric mean; the reason if all segments changed alike."""
    logs = [compute_log(pair.value / pair.base) for pair in pairs]
    count = len(logs)
    mean = math.fsum(logs) / count
    variance = math.fsum((item - mean) ** 2 for item in logs) / (count * (count - 1))
    if not variance:
        return Reason.CONSTANT
    ratio, df = raise_e(mean), floor_to_even(count - 1)
    change = RatioChange(100 * (ratio - 1), math.sqrt(variance), df)
    return Comparison(1.0, ratio, change, change, Spread(variance, df, Component.SEGMENTS), count)
