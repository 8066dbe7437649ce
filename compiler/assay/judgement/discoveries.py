"""Find which of the changes of a page are more than chance makes of so many.

Of 40 metrics that did not change, one or two have an interval beyond their margin, if each is right in 95 of 100 cases:
27 % of such pages would say *worse* somewhere. The procedure of Benjamini and Hochberg (1995) keeps the expected share
of false changes among those that it selects at 5 %: with m sorted p, it selects those up to the last p(k) <= k/m * 5 %.
On a page without any change, it selects one in at most 5 % of the cases.

Rows that are one measurement, such as shares of one distribution whose values are all equal, count once.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

_Key = TypeVar("_Key", bound=Hashable)


def select_discoveries(tests: Mapping[_Key, tuple[Hashable, float]], share: float) -> frozenset[_Key]:
    """Return the keys of the tests that are selected; each has what it measures, and the p of "no change".

    `share` is the greatest expected share of false ones among them.
    """
    ps = sorted(p for _, p in set(tests.values()))
    selected = [p for rank, p in enumerate(ps, start=1) if p <= rank / len(ps) * share + _ROUNDING]
    limit = max(selected, default=-1.0)
    return frozenset(key for key, (_, p) in tests.items() if p <= limit)


_ROUNDING = 1e-12  # 1 - 0.95 is a little more than 0.05 as a double, other levels a little less
