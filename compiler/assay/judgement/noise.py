"""Report the noise of a metric, from runs of one version: how much one run varies, how many runs show a change.

Of R runs each, two versions whose runs vary by the standard deviation s differ by a change d with an error of
s sqrt(2/R). It is detected (two-sided, level 95 %) in 80 % of the cases if

    d >= s sqrt(2/R) (t(.975, 2R-2) + t(.80, 2R-2))

The formula replaces the noncentral t distribution by a shifted one: the number is that of the exact distribution or one
more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from assay.judgement.repeats import pool_variances
from assay.judgement.student_t import compute_quantile, floor_to_even

CHANGES = (1.0, 2.0, 5.0)
MOST_RUNS = 1000
_LEAST_RUNS = 2


@dataclass(frozen=True, slots=True)
class Noise:
    """How much a metric varies from run to run of one version.

    `deviation` is the standard deviation of one run in the metric's unit, `percent` the same in percent of the mean.
    `runs_to_detect` has for each of `CHANGES`, in percent, how many runs of each version detect it; None for more than
    1000.
    """

    runs: int
    mean: float
    deviation: float
    percent: float
    runs_to_detect: tuple[int | None, ...]


def measure_noise(estimates: Sequence[Fraction]) -> Noise | None:
    """Measure the noise of the averages of at least three runs; None for fewer, and for a mean of 0."""
    pooled = pool_variances([estimates])
    mean = sum(estimates, Fraction(0)) / max(1, len(estimates))
    if pooled is None or not mean:
        return None
    deviation = math.sqrt(pooled.variance)
    percent = 100 * deviation / abs(float(mean))
    numbers = tuple(count_runs_to_detect(change, percent) for change in CHANGES)
    return Noise(len(estimates), float(mean), deviation, percent, numbers)


def count_runs_to_detect(change: float, deviation: float, level: float = 0.95, power: float = 0.8) -> int | None:
    """Return how many runs of each version detect a change with so much power; None for more than 1000.

    Change and deviation (of one run) are in the same unit.
    """
    # The degrees of freedom of the most runs give a number that is too small by a few runs at most.
    least = 2 * (deviation / change * _sum_quantiles(MOST_RUNS, level, power)) ** 2
    for runs in range(max(_LEAST_RUNS, math.ceil(min(least, MOST_RUNS + 1))), MOST_RUNS + 1):
        if deviation * math.sqrt(2 / runs) * _sum_quantiles(runs, level, power) <= change:
            return runs
    return None


def count_runs_to_narrow(factor: float, runs: float, df: float, level: float = 0.95) -> int | None:
    """Return how many runs of each version, instead of `runs`, give an interval that is so many times narrower.

    None for more than 1000. Errors shrink with the square root of the runs, quantiles of t with the degrees of freedom.
    """
    probability, most_df = (1 + level) / 2, 2 * MOST_RUNS
    width = factor * math.sqrt(runs) / compute_quantile(probability, floor_to_even(min(df, most_df)))
    least = (width * compute_quantile(probability, most_df)) ** 2
    for number in range(math.ceil(max(runs, min(least, MOST_RUNS + 1))), MOST_RUNS + 1):
        if width * compute_quantile(probability, floor_to_even(min(df * number / runs, most_df))) <= math.sqrt(number):
            return number
    return None


def _sum_quantiles(runs: int, level: float, power: float) -> float:
    df = 2 * (runs - 1)
    return compute_quantile((1 + level) / 2, df) + compute_quantile(power, df)
