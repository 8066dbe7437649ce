"""Find metrics whose samples mean something else in a run than in another: zero, or a thousandfold."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from assay.engine.results import Distribution
from assay.lang.model.package import Metric
from assay.quality.finding import UNLIKE, Finding, format_metric_list
from assay.util.time_units import NANOSECONDS, TIME_UNITS

#: symbols of units of durations
TIMES = tuple(unit.symbol for unit in TIME_UNITS if unit.nanoseconds <= NANOSECONDS["hour"])
#: samples that the other run would have of a share, if it were the same there: by chance it has none
LEAST_EXPECTED = 10
#: the share that is odd if the other run has a few such samples, too
SHARE_OF_FEW = 0.05
#: zeros are no small values if the least other centile is so many times the least distance of two centiles
ISOLATION = 10
#: centiles by which a scale is recognized, the samples that they need, and the factor by which each may differ from it
SCALED, LEAST_SAMPLES, TOLERANCE = (0.05, 0.2, 0.5, 0.75, 0.95), 20, 1.5

Distributions = Mapping[str, Distribution]


def find_unlike_values(
    runs: Sequence[tuple[str, Distributions]], metrics: Sequence[Metric]
) -> tuple[tuple[Finding, ...], ...]:
    """Return the findings on each run whose samples of a metric are unlike those of another run.

    A run is a label and the distributions of `metrics`. Durations are unlike if many are 0 and nothing near it, and
    hardly any of the other run: 0 stands for a missing value. Samples of any unit are if all are a power of 1000 times
    those of the first run: the unit changed.
    """
    return tuple(tuple(_list_unlike(results, runs, metrics)) for _, results in runs)


def _list_unlike(
    results: Distributions, runs: Sequence[tuple[str, Distributions]], metrics: Sequence[Metric]
) -> Iterator[Finding]:
    alike: dict[str, list[Metric]] = defaultdict(list)
    for metric in metrics:
        measured = [(label, items[metric.id]) for label, items in runs if metric.id in items]
        if metric.id in results and (problem := _describe_unlike(metric, results[metric.id], measured)):
            alike[problem].append(metric)
    for problem, items in alike.items():
        measures = [(item.grain, item.measure) for item in items]
        ids = [item.id for item in metrics if (item.grain, item.measure) in measures]
        yield Finding(UNLIKE, f"{problem}{format_metric_list(ids)}.", tuple(ids))


def _describe_unlike(metric: Metric, distribution: Distribution, measured: Sequence[tuple[str, Distribution]]) -> str:
    """Return how samples differ from those of another run, without a full stop; empty if they do not."""
    share = _find_share_of_zeros(distribution) if metric.unit.symbol in TIMES else 0.0
    for label, other in measured if share and _has_isolated_zeros(distribution) else ():
        least = 0 if all(item.value for item in other.centiles) else SHARE_OF_FEW
        if share * other.size >= LEAST_EXPECTED and share >= least and not _find_share_of_zeros(other):
            return f"at least {100 * share:g} % of the samples are 0, in {label} less than 1 %"
    label, first = measured[0]
    power = _find_power(distribution, first)
    size = f"{1000 ** abs(power)} times as {'large' if power > 0 else 'small'}"
    return f"the samples are {size} as those of {label}: the unit may have changed" if power else ""


def _find_share_of_zeros(distribution: Distribution) -> float:
    """Return the greatest centile that is 0; 0 if none is, or only the least sample."""
    return max((item.centile for item in distribution.centiles if item.value == 0), default=0.0)


def _has_isolated_zeros(distribution: Distribution) -> bool:
    """Return whether the least other centile is far from 0, measured by the distances of centiles."""
    values = sorted({item.value for item in distribution.centiles if item.value > 0})
    distances = [after - before for before, after in pairwise(values)]
    return bool(distances) and values[0] > ISOLATION * min(distances)


def _find_power(distribution: Distribution, other: Distribution) -> int:
    """Return the power of 1000 by which samples are those of another run times it; 0 if there is none."""
    if min(distribution.size, other.size) < LEAST_SAMPLES:
        return 0
    pairs = [(mine.value, theirs.value) for mine, theirs in zip(distribution.centiles, other.centiles, strict=True)
             if mine.centile in SCALED]  # fmt: skip
    is_constant = distribution.least == distribution.greatest or other.least == other.greatest
    if is_constant or not all(mine > 0 and theirs > 0 for mine, theirs in pairs):
        return 0
    logs = [math.log(mine / theirs) for mine, theirs in pairs]
    power = round(logs[len(logs) // 2] / math.log(1000))
    return power if all(abs(item - power * math.log(1000)) < math.log(TOLERANCE) for item in logs) else 0
