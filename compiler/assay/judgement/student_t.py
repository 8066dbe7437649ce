"""Compute Student's t distribution of even degrees of freedom, with the same bits on every machine.

For an even number of degrees of freedom the distribution function is algebraic (Abramowitz and Stegun, 26.7.4):

    P(T <= t) = 1/2 + s/2 (1 + 1/2 c + (1 3)/(2 4) c^2 + ...)     df/2 terms
    s = t / sqrt(df + t^2),  c = df / (df + t^2)

So it needs only + - * / and the square root, which IEEE 754 rounds correctly, and no function of the C library.
"""

from __future__ import annotations

import functools
import math

BISECTIONS = 64  # more than a double has bits
_BEYOND = 1e100  # from here on the tail is 0 in doubles, and squares come near their limit


def floor_to_even(df: float) -> int:
    """Return the greatest even number up to `df`, and at least 2: fewer degrees of freedom widen an interval."""
    return max(2, int(df) // 2 * 2)


def compute_cdf(t: float, df: int) -> float:
    """Return the probability that a variable with Student's t distribution is at most `t`.

    Raises ValueError unless `df` is even and positive.
    """
    _check_df(df)
    if abs(t) > _BEYOND:
        return 1.0 if t > 0 else 0.0
    square = t * t
    c = df / (df + square)
    term = total = 1.0
    for k in range(1, df // 2):
        term *= (2 * k - 1) / (2 * k) * c
        total += term
    return min(1.0, max(0.0, 0.5 + t / math.sqrt(df + square) / 2 * total))


@functools.cache
def compute_quantile(probability: float, df: int) -> float:
    """Return the t below which a variable lies with a probability, by 64 bisections of the distribution function.

    Raises ValueError unless `df` is even and positive and the probability is between 0 and 1, both excluded.
    """
    _check_df(df)
    if not 0 < probability < 1:
        raise ValueError(f"probability {probability} is not between 0 and 1")
    if probability < 0.5:
        return -compute_quantile(1 - probability, df)
    low, high = 0.0, 1.0
    while high < _BEYOND and compute_cdf(high, df) < probability:
        low, high = high, high * 2
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if compute_cdf(middle, df) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _check_df(df: int) -> None:
    if df < 2 or df % 2:
        raise ValueError(f"{df} degrees of freedom: must be even and at least 2")
