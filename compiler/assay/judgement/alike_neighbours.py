"""Test whether a step or a line fits a series better than a constant, although neighbouring runs may be alike.

Runs that follow each other share a machine, a day and a load. Noise is therefore autoregressive: its part r is that of
the run before. With S0(r) and S1(r) the sums of squares of a constant and of the change, generalised for r (Cochrane
and Orcutt 1949, with the first point by Prais and Winsten 1954), and w(r) = 1 + (r^2 + ((r - r_page) / 0.1)^2) / n:

    t^2 = (n - 3) (min w S0 / min w S1 - 1) / (1 + 6 r1 / n)            n - 3 degrees of freedom

Both minima are over r = 0, 0.05 ... 0.8, and r1 is that of the second. That is a ratio of likelihoods. Each side has
the r that suits it best: alike neighbours explain a slow change, but not a sudden one. In short series r1 is too small
(0.28 on average for 0.6 and 20 points), which the last factor makes good. r_page is that of all series of a page, which
know it far better than one of them; without a page, the term is left out. For r = 0 alone, t is that of Student's test,
with n - 2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from assay.judgement.student_t import compute_cdf, floor_to_even

_STEPS, _STEP = 17, 0.05
_DEVIATION = 0.1  # of series of a page from its r
#: fewer series, or shorter ones, do not tell the r of a page
_LEAST_SERIES, _LEAST_POINTS = 10, 10
_HIDDEN, _HIDDEN_IN_SHORT = 0.7, 6.0
_SHORTNESS = 6.0  # by which r is too small, times n


@dataclass(frozen=True, slots=True)
class Correlation:
    """What is known of r, the correlation of neighbours: up to `most`, and `usual` on the page of the series."""

    usual: float | None = None
    most: float = (_STEPS - 1) * _STEP

    def list_weights(self, count: int) -> list[tuple[float, float]]:
        """Return values of r, each with the factor of its sums of squares for `count` points."""
        rs = [step * _STEP for step in range(_STEPS) if step * _STEP <= self.most]
        return [(r, 1 + (r * r + self._compute_distance(r)) / count) for r in rs]

    def _compute_distance(self, r: float) -> float:
        return 0.0 if self.usual is None else ((r - self.usual) / _DEVIATION) ** 2


UNKNOWN = Correlation()
INDEPENDENT = Correlation(most=0.0)


def pool_correlations(rs: Sequence[float]) -> Correlation:
    """Return the usual correlation of a page from those of its series; unknown if they are few."""
    return Correlation(min(max(median(rs), 0.0), UNKNOWN.most)) if len(rs) >= _LEAST_SERIES else UNKNOWN


def measure_correlation(levels: Sequence[Sequence[float]]) -> float | None:
    """Return r of a series from the differences from its levels; None if there are few or no differences.

    Each level takes about 2 / n from r, and the more r is, the more of it looks like levels: r + 0.7 r^2, plus 6 / n
    times the cube of that, is the measured inverse.
    """
    count = sum(map(len, levels))
    rest = [item for level in levels for item in _center(level)]
    squares = math.fsum(item * item for item in rest)
    if count < _LEAST_POINTS or not squares:
        return None
    r = math.fsum(one * following for one, following in pairwise(rest)) / squares + 2 * len(levels) / count
    r += _HIDDEN * max(r, 0.0) ** 2
    return r + _HIDDEN_IN_SHORT * max(r, 0.0) ** 3 / count


def compute_change_p(
    values: Sequence[float], change: Sequence[float], least_variance: float, correlation: Correlation
) -> float:
    """Return p of a change, 1 if neither it nor noise is there; at least four points are needed.

    `change` has the course of the change, such as 0 before a step and 1 from it on.
    """
    count = len(values)
    free = count - 2 - (correlation.most > 0)
    sums = _Sums.from_series(values, change)
    least = least_variance * (count - 2)
    constant, (changed, best) = math.inf, (math.inf, 0.0)
    for r, weight in correlation.list_weights(count):
        squares, gain = sums.fit(r)
        rest = max(squares - gain, least)
        constant, (changed, best) = min(constant, weight * (rest + gain)), min((changed, best), (weight * rest, r))
    if changed <= 0:
        return 0.0 if constant > 0 else 1.0
    t = math.sqrt(free * max(constant / changed - 1, 0.0) / (1 + _SHORTNESS * best / count))
    return 2 * compute_cdf(-t, floor_to_even(free))


@dataclass(frozen=True, slots=True)
class _Sums:
    """Sums of products from which those for any r follow: values y, ones and a change x."""

    yy: _Product
    y1: _Product
    yx: _Product
    ones: _Product
    x1: _Product
    xx: _Product

    @classmethod
    def from_series(cls, values: Sequence[float], change: Sequence[float]) -> _Sums:
        y, x = _center(values), _center(change)
        ones = [1.0] * len(values)
        return cls(*(_Product.multiply(*pair) for pair in ((y, y), (y, ones), (y, x), (ones, ones), (x, ones), (x, x))))

    def fit(self, r: float) -> tuple[float, float]:
        """Return the sum of squares of the best constant, and by how much the change lessens it."""
        yy, y1, yx, ones, x1, xx = (
            item.sum_for(r) for item in (self.yy, self.y1, self.yx, self.ones, self.x1, self.xx)
        )
        return max(yy - y1 * y1 / ones, 0.0), (yx - y1 * x1 / ones) ** 2 / (xx - x1 * x1 / ones)


@dataclass(frozen=True, slots=True)
class _Product:
    """The sum of a b, that of neighbours a b' + a' b, and that of a b without the ends."""

    whole: float
    neighbours: float
    inner: float

    @classmethod
    def multiply(cls, one: Sequence[float], other: Sequence[float]) -> _Product:
        products = [a * b for a, b in zip(one, other, strict=True)]
        crosses = (a * d + c * b for (a, c), (b, d) in zip(pairwise(one), pairwise(other), strict=True))
        return cls(math.fsum(products), math.fsum(crosses), math.fsum(products[1:-1]))

    def sum_for(self, r: float) -> float:
        """Return the sum of products after the part r of the point before is taken from each point."""
        return self.whole - r * self.neighbours + r * r * self.inner


def _center(values: Sequence[float]) -> list[float]:
    mean = math.fsum(values) / len(values)
    return [value - mean for value in values]
