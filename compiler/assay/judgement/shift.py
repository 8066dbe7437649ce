"""Compare the distributions of a metric in two runs: the difference of their quantiles, and of their shares.

The shift function is the difference of the quantiles at 0.1 … 0.9, each with its interval (Doksum 1974; Wilcox 1995).
The greatest difference of the shares of samples up to a value is that of Kolmogorov and Smirnov.  It has no interval:
the test of that name takes samples as independent.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from assay.judgement.batches import Cell, RunCells
from assay.judgement.change import Interval
from assay.judgement.interval import Reason
from assay.judgement.quantile_interval import (
    Quantile,
    ShareError,
    compare_quantiles,
    estimate_quantile,
    estimate_share_error,
    find_index,
)

DECILES = tuple(Fraction(number, 10) for number in range(1, 10))
SHARES = (*DECILES, Fraction(95, 100), Fraction(99, 100))
STEPS = 2000
"""The ranks of order statistics divide a run into so many parts; of fewer samples, all are known."""


@dataclass(frozen=True)
class RunQuantiles:
    """The distribution of a metric in a run, in the metric's unit; samples of all hosts are pooled.

    `quantiles` are the samples at `SHARES`, `steps` those at equal distances of rank, ascending.  `places` has, for
    each place in time, its number of samples, and how many are at most each of the quantiles.
    """

    quantiles: tuple[float, ...]
    steps: tuple[float, ...]
    places: tuple[tuple[int, int, tuple[int, ...]], ...]
    units: int

    @cached_property
    def count(self) -> int:
        """The number of samples."""
        return sum(size for _, size, _ in self.places)

    @cached_property
    def _errors(self) -> dict[int, ShareError | Reason]:
        """The errors of the shares at positions of `SHARES`, which intervals of every level use."""
        return {}

    @property
    def is_constant(self) -> bool:
        """Return whether all samples are equal."""
        return self.steps[0] == self.steps[-1]

    def compute_share(self, value: float) -> float:
        """Return the share of samples that are at most a value, as precise as the steps."""
        steps_below = bisect.bisect_right(self.steps, value)
        return (self._get_rank(steps_below - 1) + 1) / self.count if steps_below else 0.0

    def estimate(self, position: int, level: float) -> Quantile | Reason:
        """Estimate the quantile at one of `SHARES`; its ends are rounded away from it to the next steps."""
        middle = find_index(self.count, SHARES[position])

        def get_sample(index: int) -> float:
            if index == middle:
                return self.quantiles[position]
            last = len(self.steps) - 1
            place = index * last // (self.count - 1)
            candidates = range(max(place - 1, 0), min(place + 2, last) + 1)
            if index < middle:
                return self.steps[max(item for item in candidates if self._get_rank(item) <= index)]
            return self.steps[min(item for item in candidates if self._get_rank(item) >= index)]

        if position not in self._errors:
            cells = tuple(Cell(place, "", below[position], size) for place, size, below in self.places)
            self._errors[position] = estimate_share_error(SHARES[position], RunCells(cells, self.units))
        return estimate_quantile(SHARES[position], self.count, self._errors[position], get_sample, level)

    def _get_rank(self, step: int) -> int:
        """Return the index of a step among all ascending samples."""
        return step * (self.count - 1) // max(len(self.steps) - 1, 1)


@dataclass(frozen=True, slots=True)
class QuantileChange:
    """The quantiles of base and other run at a share; the interval of their difference, or the reason for none."""

    share: Fraction
    base: float
    value: float
    interval: Interval | Reason

    @property
    def difference(self) -> float:
        """Return the change from the base."""
        return self.value - self.base


@dataclass(frozen=True, slots=True)
class ShareGap:
    """The value at which the shares of samples up to it differ most, and these shares."""

    value: float
    base: float
    other: float

    @property
    def difference(self) -> float:
        """Return the change of the share from the base."""
        return self.other - self.base


def compare_distributions(base: RunQuantiles, other: RunQuantiles, level: float = 0.95) -> tuple[QuantileChange, ...]:
    """Return the changes of the quantiles at `SHARES`."""
    changes = []
    for position, share in enumerate(SHARES):
        estimates = [run.estimate(position, level) for run in (base, other)]
        interval = combine_quantiles(*estimates)
        changes.append(QuantileChange(share, base.quantiles[position], other.quantiles[position], interval))
    return tuple(changes)


def combine_quantiles(before: Quantile | Reason, after: Quantile | Reason) -> Interval | Reason:
    """Return the interval of the difference of two quantiles, or the reason why one of them has none."""
    if isinstance(before, Reason):
        return before
    if isinstance(after, Reason):
        return after
    if before.is_too_short or after.is_too_short:
        return Reason.TOO_SHORT
    return compare_quantiles(before, after)


def find_greatest_gap(base: RunQuantiles, other: RunQuantiles) -> ShareGap:
    """Return where the shares of two runs differ most; of equal gaps, the one at the least value."""
    gaps = list_gaps(base, other)
    return max(gaps, key=lambda gap: abs(gap.difference))


def list_gaps(base: RunQuantiles, other: RunQuantiles) -> Sequence[ShareGap]:
    """Return the shares of both runs at each known sample of either, ascending."""
    values = sorted({*base.steps, *other.steps})
    return [ShareGap(value, base.compute_share(value), other.compute_share(value)) for value in values]
