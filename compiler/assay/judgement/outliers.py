"""Find the values of a group that lie far from the others: hosts whose medians do not fit in.

A value is an outlier if it differs from the median of all values by more than 3.5 robust standard deviations (Iglewicz
and Hoaglin): 1.4826 times the median of the absolute differences from the median, which is the standard deviation where
values are normally distributed. A few outliers hardly change it, unlike the usual standard deviation. Whole numbers
that differ by 1 may be equal apart from rounding, so they must differ by more. As every finding, an outlier must also
exceed the margin of its metric: where values hardly differ, a difference of no importance is no outlier.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

FEWEST = 6
"""Number of values below which none is an outlier: of so few, one in five groups would have one by chance."""
LIMIT = Fraction("3.5")
DEVIATION = Fraction("1.4826")


@dataclass(frozen=True, slots=True)
class Fences:
    """The median of values, and the difference from it above which a value is an outlier; None: none is."""

    median: Fraction
    reach: Fraction | None

    def classify(self, value: int | float) -> int:
        """Return 1 for an outlier above the median, -1 for one below, 0 for all other values."""
        difference = Fraction(value) - self.median
        if self.reach is None or abs(difference) <= self.reach:
            return 0
        return 1 if difference > 0 else -1


def compute_fences(
    values: Sequence[int | float],
    are_whole: bool,
    convert_margin: Callable[[Fraction], Fraction] = lambda _: Fraction(0),
) -> Fences:
    """Return the fences of finite values, at least one; `are_whole`: they are counts of a smallest unit.

    `convert_margin` returns the margin of a median. Medians are order statistics, as everywhere: of n ascending values
    the one at index floor(n / 2), from 0.
    """
    ordered = sorted(map(Fraction, values))
    median = ordered[len(ordered) // 2]
    if len(ordered) < FEWEST:
        return Fences(median, None)
    differences = sorted(abs(value - median) for value in ordered)
    reach = max(LIMIT * DEVIATION * differences[len(ordered) // 2], convert_margin(median))
    return Fences(median, max(reach, Fraction(1)) if are_whole else reach)
