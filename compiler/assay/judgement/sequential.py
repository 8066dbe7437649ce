"""Judge pairs of runs as they arrive, by intervals that hold however often one looks at them.

Each pair is a run of the base and one of the candidate; d = ln(candidate / base) is its change. A t test after each
pair finds a change in 26 % of series of 30 pairs without any. The interval here has all changes m whose e-value is
below 1 / (1 - level): the Bayes factor of the t statistic of d - m, with a normal prior of variance r on the change in
standard deviations (Rouder, Speckman, Sun, Morey and Iverson 2009), which is a martingale if m is the true change. By
Ville's inequality, the interval holds the true change after every pair, in a share `level` of all series.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from assay.judgement.change import Interval, compute_log, raise_e
from assay.judgement.verdict import Direction, Verdict

LEAST_PAIRS = 3
_PRIOR = 4  # variance of the change in standard deviations of a pair: decides on large changes after few pairs

Pair = tuple[Fraction, Fraction]
"""The average of a run of the base, and that of a run of the candidate; both above 0."""


@dataclass(frozen=True, slots=True)
class PairedChange:
    """The change from base to candidate over pairs of runs.

    `mean` is that of the logarithms of the pairs, and `error` its standard error.
    """

    pairs: int
    mean: float
    error: float

    @property
    def percent(self) -> float:
        """The change in percent."""
        return _convert_to_percent(self.mean)

    def compute_interval(self, level: float) -> Interval | None:
        """Return the interval in percent that holds the change after every pair; None while it has no end."""
        reach = _compute_reach(self.pairs, level) * self.error if self.error else 0.0
        if self.pairs < LEAST_PAIRS or math.isinf(reach):
            return None
        return Interval(_convert_to_percent(self.mean - reach), _convert_to_percent(self.mean + reach))

    def decide(self, margin: float, direction: Direction, level: float) -> Verdict:
        """Return the verdict with a margin in percent: `cannot tell` until the pairs decide.

        As for other comparisons, `same` needs the interval of twice the error within the margin.
        """
        interval, narrow = self.compute_interval(level), self.compute_interval(2 * level - 1)
        if interval and (interval.low > margin or interval.high < -margin):
            if direction is Direction.NEITHER:
                return Verdict.CHANGED
            return Verdict.WORSE if (interval.low > margin) == (direction is Direction.LOWER) else Verdict.BETTER
        return Verdict.SAME if narrow and narrow.is_within(margin) else Verdict.CANNOT_TELL

    def is_beyond(self, change: float, level: float) -> bool | None:
        """Return whether the true change is farther from 0 than a change in percent; None if the pairs cannot tell."""
        interval = self.compute_interval(level)
        if interval is None or interval.low <= change <= interval.high:
            return None
        return (interval.low > change) == (change > 0)


def compare_pairs(pairs: Sequence[Pair]) -> PairedChange:
    """Return the change over pairs of runs, at least one."""
    logs = [compute_log(value / base) for base, value in pairs]
    count = len(logs)
    mean = math.fsum(logs) / count
    squares = math.fsum((item - mean) ** 2 for item in logs)
    return PairedChange(count, mean, math.sqrt(squares / (count - 1) / count) if count > 1 else 0.0)


def _compute_reach(pairs: int, level: float) -> float:
    """Return how many errors the interval reaches to each side; infinite while no t is certain enough.

    With n pairs, v = n - 1 and g = 1 + n r, the e-value is g^-1/2 ((1 + t^2 / v) / (1 + t^2 / (v g)))^((v + 1) / 2).
    """
    df, growth = pairs - 1, 1 + pairs * _PRIOR
    if df < 1:
        return math.inf
    least = raise_e(2 / (df + 1) * (0.5 * compute_log(Fraction(growth)) - compute_log(1 - Fraction(level))))
    return math.sqrt(df * (least - 1) / (1 - least / growth)) if least < growth else math.inf


def _convert_to_percent(log: float) -> float:
    return 100 * (raise_e(log) - 1)
