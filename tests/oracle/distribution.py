"""Distributions: order statistics, exact means, deviations; of one population and of a cluster of hosts.

Samples are integers, or doubles taken at their exact binary value. `scale` is the number of sample units in
one unit of the metric (durations: nanoseconds and seconds), applied last, in the one division that leaves the
exact numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tests.oracle.model import Centile, Distribution, Number, Spread

CENTILES = (
    0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.875, 0.9, 0.925, 0.95, 0.97, 0.98,
    0.99, 0.995, 0.997, 0.998, 0.999, 0.9995, 0.9997, 0.9998, 0.9999, 1.0,
)  # fmt: skip

Exact = int | float


@dataclass(frozen=True, slots=True)
class Population:
    """A summary of exact samples; all zero without samples."""

    size: int
    mean: Fraction
    variance: Fraction
    least: Exact
    greatest: Exact
    median: Exact
    centiles: tuple[Exact, ...]


def compute_order_statistic(ascending: Sequence[Exact], centile: float) -> Exact:
    """Return the sample at index min(floor(n c), n - 1), with n c as a double."""
    n = len(ascending)
    return ascending[min(math.floor(n * centile), n - 1)] if n else 0


def _scale_to_integers(samples: Sequence[Exact]) -> tuple[list[int], int]:
    """Return samples as integers in 1/unit; for doubles the unit is a power of two."""
    ratios = [x.as_integer_ratio() for x in samples]
    unit = max(denominator for _, denominator in ratios)
    return [numerator * (unit // denominator) for numerator, denominator in ratios], unit


def summarize_samples(samples: Sequence[Exact], centiles: Sequence[float] = CENTILES) -> Population:
    """Summarise samples; the variance is over n - 1, and 0 for a single sample."""
    ascending = sorted(samples)
    n = len(ascending)
    if n == 0:
        return Population(0, Fraction(0), Fraction(0), 0, 0, 0, (0,) * len(centiles))
    integers, unit = _scale_to_integers(ascending)
    total = sum(integers)
    squares = sum(x * x for x in integers)
    return Population(
        size=n,
        mean=Fraction(total, n * unit),
        variance=Fraction(n * squares - total * total, n * (n - 1) * unit**2) if n > 1 else Fraction(0),
        least=ascending[0],
        greatest=ascending[-1],
        median=compute_order_statistic(ascending, 0.5),
        centiles=tuple(compute_order_statistic(ascending, c) for c in centiles),
    )


def convert_to_unit(x: Exact, scale: int) -> Number:
    """Convert a sample to the metric's unit: counts stay integers, durations are divided once."""
    return x if scale == 1 else x / scale


def _compute_deviation(population: Population, scale: int) -> float:
    return math.sqrt(population.variance / scale**2)


def build_distribution(population: Population, scale: int) -> Distribution:
    """Return the distribution of one population."""
    average = float(population.mean / scale)
    return Distribution(
        size=population.size,
        average_published=average,
        average_hosts=average,
        median=convert_to_unit(population.median, scale),
        stddev=_compute_deviation(population, scale),
        min=convert_to_unit(population.least, scale),
        max=convert_to_unit(population.greatest, scale),
        centiles=tuple(
            Centile(c, convert_to_unit(x, scale), None, None)
            for c, x in zip(CENTILES, population.centiles, strict=True)
        ),
        is_cluster=False,
    )


def compute_equicentiles(n: int) -> list[float]:
    """Return centiles in the middle of n equal parts."""
    step = 1.0 / n
    return [step * (i + 0.5) for i in range(n)]


def summarize_centile(hosts: Sequence[Population], index: int) -> Population:
    """Return the distribution over hosts of their centile number `index`, with max(7, n) centiles."""
    return summarize_samples([host.centiles[index] for host in hosts], compute_equicentiles(max(7, len(hosts))))


def compute_published_average(means: Sequence[float]) -> float:
    """Return the summary `published`: the first min(29, n) ascending means, each weighted with n."""
    n = len(means)
    lowest = sorted(means)[: min(len(CENTILES), n)]
    total = 0.0
    for mean in lowest:
        total += n * mean
    return total / (n * len(lowest))


def _build_spread(population: Population, scale: int) -> Spread:
    positions = compute_equicentiles(len(population.centiles))
    samples = tuple((c, convert_to_unit(x, scale)) for c, x in zip(positions, population.centiles, strict=True))
    return Spread(float(population.mean / scale), _compute_deviation(population, scale), samples)


def build_cluster_distribution(hosts: Sequence[Population], scale: int) -> Distribution:
    """Return the cluster's distribution from those of hosts; hosts without samples count as zeros."""
    populations = [summarize_centile(hosts, index) for index in range(len(CENTILES))]
    return Distribution(
        size=sum(host.size for host in hosts),
        average_published=compute_published_average([float(host.mean / scale) for host in hosts]),
        average_hosts=float(sum((host.mean for host in hosts), Fraction(0)) / (scale * len(hosts))),
        median=convert_to_unit(compute_order_statistic(sorted(host.median for host in hosts), 0.5), scale),
        stddev=max(_compute_deviation(host, scale) for host in hosts),
        min=convert_to_unit(min(host.least for host in hosts), scale),
        max=convert_to_unit(max(host.greatest for host in hosts), scale),
        centiles=tuple(
            Centile(
                c,
                convert_to_unit(population.median, scale),
                convert_to_unit(population.least, scale),
                convert_to_unit(population.greatest, scale),
            )
            for c, population in zip(CENTILES, populations, strict=True)
        ),
        is_cluster=True,
        spreads=tuple(_build_spread(population, scale) for population in populations),
    )
