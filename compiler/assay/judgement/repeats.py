"""Measure how much runs of one version differ from each other.

The interval of two runs holds only what varies within them. Runs of one version on one cluster differ by more: hosts
are placed anew, caches are filled otherwise, the network has another day. Only repeats show that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

LEAST_DF = 2  # with fewer, the variance is hardly known: intervals would be useless (t = 12.7) or wrong


@dataclass(frozen=True, slots=True)
class RunNoise:
    """The variance of the average of one run, from runs of one version, with its degrees of freedom.

    `variance` is in the square of the metric's unit.
    """

    variance: float
    df: int


def pool_variances(groups: Iterable[Sequence[Fraction]]) -> RunNoise | None:
    """Pool the variances of groups of averages; each group has the runs of one version.

    variance = sum over groups and runs of (m - mean of the group)^2, divided by df = sum of (runs - 1). Calibration
    runs are a group, and so are the runs of each compared version. None when df is less than 2.
    """
    squares, df = Fraction(0), 0
    for group in groups:
        if len(group) > 1:
            mean = sum(group, Fraction(0)) / len(group)
            squares += sum(((value - mean) ** 2 for value in group), Fraction(0))
            df += len(group) - 1
    return RunNoise(float(squares / df), df) if df >= LEAST_DF else None
