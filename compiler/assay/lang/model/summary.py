"""How averages are taken over hosts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Summary:
    """How the average of a metric with one distribution per host is taken over the hosts.

    `lowest` (0: no limit) keeps only that many hosts, those of the lowest means.  `deviation` is that of the hosts'
    standard deviations which is shown: `greatest` or `mean`.  `reciprocal_points`: charts plot 1 / (1 / median).
    """

    name: str
    lowest: int
    deviation: str
    reciprocal_points: bool
    doc: str
