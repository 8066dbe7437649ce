"""Simulate histograms of Prometheus, and compute their percentiles by the rules of its documentation."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any

START, EVERY, SCRAPES = 1_795_231_200, 15, 80
BOUNDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, math.inf)
#: labels of a series besides its bound: instance and handler
Labels = tuple[str, str]
LABELS: tuple[Labels, ...] = (("a:1", "/"), ("a:1", "/slow"), ("b:1", "/"), ("b:1", "/slow"))

#: scrape -> cumulative counts by bound, of a series
Counts = Sequence[Sequence[int]]


def simulate_counts(seed: int, factor: float = 1.0, tail: float = 0.0) -> dict[Labels, Counts]:
    """Return the counts of each scrape; processes of instance `b:1` restart after a third of the scrapes.

    The times of requests are lognormal, times `factor`, and the share `tail` is longer than every bound.
    """
    random = Random(seed)
    counts: dict[Labels, Counts] = {}
    for instance, handler in LABELS:
        totals, rows = [0] * len(BOUNDS), []
        for scrape in range(SCRAPES + 1):
            if instance.startswith("b") and scrape == SCRAPES // 3:
                totals = [0] * len(BOUNDS)
            for _ in range(random.randrange(10, 30)):
                median = 0.3 if handler == "/slow" else 0.08
                time = 9.0 if random.random() < tail else factor * median * math.exp(random.gauss(0, 0.6))
                place = bisect_left(BOUNDS, time)
                totals = [total + (index >= place) for index, total in enumerate(totals)]
            rows.append(tuple(totals))
        counts[instance, handler] = rows
    return counts


def write_bound(bound: float) -> str:
    return "+Inf" if math.isinf(bound) else str(bound)


def list_series(name: str, counts: Mapping[Labels, Counts]) -> list[dict[str, Any]]:
    """Return the series of a histogram as a server answers them."""
    return [
        {
            "metric": {
                "__name__": f"{name}_bucket", "instance": instance, "handler": handler, "le": write_bound(bound)
            },
            "values": [[str(START + EVERY * scrape), str(row[index])] for scrape, row in enumerate(rows)],
        }
        for (instance, handler), rows in counts.items()
        for index, bound in enumerate(BOUNDS)
    ]  # fmt: skip


def add_increases(counts: Mapping[Labels, Counts], lines: Iterable[Labels], first: int, last: int) -> Counter[float]:
    """Return by how much the buckets of some lines grow from a scrape to another; restarts begin at 0."""
    increases: Counter[float] = Counter()
    for line in lines:
        for before, after in zip(counts[line][first:last], counts[line][first + 1 : last + 1], strict=True):
            for bound, old, new in zip(BOUNDS, before, after, strict=True):
                increases[bound] += new if new < old else new - old
    return increases


def compute_centile(increases: Mapping[float, float], centile: float) -> float | None:
    """Return the centile of a histogram by the rules of `histogram_quantile`; None without values."""
    bounds = sorted(increases)
    size = increases[math.inf]
    if not size:
        return None
    rank = centile * size
    lower, below = 0.0, 0.0
    for bound in bounds:
        if increases[bound] >= rank:
            return lower if math.isinf(bound) else lower + (bound - lower) * (rank - below) / (increases[bound] - below)
        lower, below = bound, increases[bound]
    raise AssertionError("no bucket has all values")
