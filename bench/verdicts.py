"""Measure how often verdicts are wrong and how often changes are detected, on simulated runs of many kinds of noise.

The runs go through the functions that judge reports. For each family it prints, as a Markdown table, in percent:

* false: verdicts of unchanged pairs of runs at a margin of 2 %
* excludes 0: intervals of unchanged pairs that exclude 0; 5 % are expected
* covers: intervals of pairs that are 10 % slower which hold the 10 %; 95 % are expected
* +5 %, +10 %, +50 %: pairs that are so much slower and found worse

Use: python bench/verdicts.py [--pairs 200] [--only TEXT]
"""

import argparse
import math
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator, default_rng

from assay.judgement.batches import Cell, RunCells, RunInfluence, combine_influences, count_places, measure_run
from assay.judgement.interval import Version, compare
from assay.judgement.repeats import pool_variances
from assay.judgement.verdict import Direction, Judgement, Margin, Verdict, judge

SCALE = 10**6
MARGIN = 2.0
CHANGES = (1.0, 1.05, 1.1, 1.5)
DECIDED = (Verdict.WORSE, Verdict.BETTER)

Samples = np.ndarray
"""The samples of a run, one at each unit of time."""
Draw = Callable[[Generator, float], Samples]
"""Draws a run whose samples are multiplied by a factor."""


@dataclass(frozen=True)
class Family:
    """A kind of noise, with the number of runs of each version."""

    name: str
    draw: Draw
    runs: int = 1


def draw_correlated(random: Generator, count: int, correlation: float) -> Samples:
    """Draw standard normal numbers with a correlation of neighbours."""
    noise = random.standard_normal(count) * math.sqrt(1 - correlation**2)
    noise[0] = random.standard_normal()
    for index in range(1, count):
        noise[index] += correlation * noise[index - 1]
    return noise


def use_lognormal(count: int, deviation: float = 0.2, correlation: float = 0.0) -> Draw:
    """Draw times around 10 with a lognormal distribution."""
    return lambda random, factor: factor * 10 * np.exp(deviation * draw_correlated(random, count, correlation))


def use_normal(count: int, deviation: float) -> Draw:
    """Draw times around 10 with a normal distribution."""
    return lambda random, factor: factor * 10 * (1 + deviation * random.standard_normal(count))


def use_timeouts(count: int, timeout: float, expected: float) -> Draw:
    """Draw times around 10, of which some are timeouts: a Poisson number, whatever the factor."""

    def draw(random: Generator, factor: float) -> Samples:
        samples = factor * 10 * np.exp(0.3 * random.standard_normal(count))
        number = min(count, random.poisson(expected))
        samples[random.choice(count, number, replace=False)] += timeout
        return samples

    return draw


def use_pauses(count: int, period: int, size: float) -> Draw:
    """Draw times with a long pause once in a period, as of a garbage collector."""

    def draw(random: Generator, factor: float) -> Samples:
        samples = 10 * np.exp(0.2 * random.standard_normal(count))
        places = np.arange(random.integers(0, period), count, period)
        samples[places] += size * random.exponential(1, len(places))
        return factor * samples

    return draw


def use_bursts(count: int) -> Draw:
    """Draw times that are three times as long in bursts of about 30."""

    def draw(random: Generator, factor: float) -> Samples:
        samples = 10 * np.exp(0.2 * random.standard_normal(count))
        place = int(random.geometric(1 / 120))
        while place < count:
            length = int(random.geometric(1 / 30))
            samples[place : place + length] *= 3
            place += length + int(random.geometric(1 / 120))
        return factor * samples

    return draw


def use_walk(count: int) -> Draw:
    """Draw a random walk: no stable average exists."""

    def draw(random: Generator, factor: float) -> Samples:
        steps = np.cumsum(random.standard_normal(count)) / math.sqrt(count)
        return factor * 10 * np.exp(0.2 * steps)

    return draw


def use_levels(deviation: float, count: int = 1000) -> Draw:
    """Draw runs that differ from each other by more than they vary."""
    return lambda random, factor: (
        factor * 10 * math.exp(deviation * random.standard_normal()) * np.exp(0.2 * draw_correlated(random, count, 0.3))
    )


def use_shares(share: float, count: int = 3200) -> Draw:
    """Draw events of a probability, such as failed requests."""
    return lambda random, factor: (random.random(count) < share * factor).astype(float)


def use_ratio(count: int, shared: float, deviation: float = 0.3, correlation: float = 0.0) -> Draw:
    """Draw two metrics of the same rows, whose logarithms share a part of their variance: their ratio is judged."""

    def draw(random: Generator, factor: float) -> Samples:
        common, *separate = (draw_correlated(random, count, correlation) for _ in range(3))
        logs = [deviation * (math.sqrt(shared) * common + math.sqrt(1 - shared) * noise) for noise in separate]
        return np.stack([factor * 10 * np.exp(logs[0]), 4 * np.exp(logs[1])])

    return draw


FAMILIES = (
    Family("normal, 2 %, 5 samples", use_normal(5, 0.02)),
    Family("normal, 2 %, 10 samples", use_normal(10, 0.02)),
    Family("normal, 2 %, 20 samples", use_normal(20, 0.02)),
    Family("lognormal, 10 %, 10 samples", use_lognormal(10, 0.1)),
    Family("lognormal, 100 %, 10 samples", use_lognormal(10, 1.0)),
    Family("correlation 0.5, 2 %, 20 samples", use_lognormal(20, 0.02, 0.5)),
    Family("lognormal, 20 %, 21 samples", use_lognormal(21)),
    Family("lognormal, 20 %, 63 samples", use_lognormal(63)),
    Family("lognormal, 20 %, 2000 samples", use_lognormal(2000)),
    Family("correlation 0.5, 1000 samples", use_lognormal(1000, correlation=0.5)),
    Family("correlation 0.9, 200 samples", use_lognormal(200, correlation=0.9)),
    Family("correlation 0.95, 1000 samples", use_lognormal(1000, correlation=0.95)),
    Family("correlation 0.99, 1000 samples", use_lognormal(1000, correlation=0.99)),
    Family("random walk, 1000 samples", use_walk(1000)),
    Family("heavy tail (σ 1.2), 4000 samples", use_lognormal(4000, 1.2)),
    Family("pauses, 1 in 150", use_pauses(2000, 150, 300)),
    Family("bursts", use_bursts(2000)),
    *(
        Family(f"{expected:g} timeouts of {timeout / 1000:g} s among {count}", use_timeouts(count, timeout, expected))
        for count, timeout in ((200, 10_000.0), (4000, 30_000.0))
        for expected in (0.5, 1, 2, 5)
    ),
    Family("failures, 0.5 % of 3200", use_shares(0.005)),
    Family("failures, 50 % of 3200", use_shares(0.5)),
    Family("ratio of independent metrics, 60 rows", use_ratio(60, 0.0)),
    Family("ratio of independent metrics, 1000 rows", use_ratio(1000, 0.0)),
    Family("ratio of metrics that share 80 %, 60 rows", use_ratio(60, 0.8)),
    Family("ratio of metrics that share 80 %, 1000 rows", use_ratio(1000, 0.8)),
    Family("ratio, correlation 0.5, 1000 rows", use_ratio(1000, 0.5, correlation=0.5)),
    Family("ratio, heavy tails (σ 1.2), 2000 rows", use_ratio(2000, 0.5, 1.2)),
    Family("runs differ by 2 %, one run each", use_levels(0.02)),
    Family("runs differ by 2 %, 3 runs each", use_levels(0.02), 3),
    Family("runs differ by 2 %, 5 runs each", use_levels(0.02), 5),
)


def build_run(samples: Samples) -> RunCells:
    """Build the cells of a run as the SQL of a report does: the place of a sample is its share of the run's time."""
    count = len(samples)
    places = np.arange(count) * count_places(count) // count
    sums: dict[int, list[int]] = {}
    for place, value in zip(places.tolist(), np.rint(samples * SCALE).astype(int).tolist(), strict=True):
        sums.setdefault(place, []).append(value)
    cells = tuple(Cell(place, "", sum(values), len(values)) for place, values in sums.items())
    return RunCells(cells, count, SCALE)


def measure_samples(samples: Samples) -> RunInfluence:
    """Measure the average of a run, or the ratio of the averages of two metrics, as that of a formula."""
    if samples.ndim == 1:
        return measure_run(build_run(samples))
    above, below = (measure_run(build_run(row)) for row in samples)
    ratio = above.mean / below.mean
    combined = combine_influences(ratio, [(1 / below.mean, above), (-ratio / below.mean, below)], is_signed=False)
    assert combined is not None
    return combined


def measure_version(runs: Sequence[Samples]) -> Version:
    """Measure the runs of a version."""
    version = Version.from_runs([measure_samples(samples) for samples in runs])
    is_constant = all(len(np.unique(samples)) == 1 for samples in runs)
    return Version(version.estimates, version.runs, version.reason, is_constant)


def judge_pair(base: Sequence[Samples], other: Sequence[Samples]) -> Judgement:
    """Judge the runs of two versions, less being better."""
    versions = measure_version(base), measure_version(other)
    noise = pool_variances([version.estimates for version in versions])
    return judge(compare(*versions, noise), Margin(MARGIN), Direction.LOWER)


def judge_pairs(family: Family, factor: float, pairs: int) -> Iterator[Judgement]:
    """Judge pairs of runs whose second is slower by a factor."""
    random = default_rng([zlib.crc32(family.name.encode()), round(1000 * factor)])
    for _ in range(pairs):
        base = [family.draw(random, 1.0) for _ in range(family.runs)]
        yield judge_pair(base, [family.draw(random, factor) for _ in range(family.runs)])


def measure_family(family: Family, pairs: int) -> Iterator[float]:
    """Yield the numbers of a row in percent."""
    judgements = {factor: list(judge_pairs(family, factor, pairs)) for factor in CHANGES}
    unchanged = judgements[1.0]
    yield 100 * sum(item.verdict in DECIDED for item in unchanged) / pairs
    intervals = [item.interval for item in unchanged if item.interval]
    yield 100 * sum(item.low > 0 or item.high < 0 for item in intervals) / max(1, len(intervals))
    changed = [item.interval for item in judgements[1.1] if item.interval]
    yield 100 * sum(item.low <= 10 <= item.high for item in changed) / max(1, len(changed))
    for factor in CHANGES[1:]:
        yield 100 * sum(item.verdict is Verdict.WORSE for item in judgements[factor]) / pairs


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=200, help="pairs of runs of each family and change")
    parser.add_argument("--only", default="", help="families whose name contains this text")
    arguments = parser.parse_args()
    print("| noise of a run | false | excludes 0 | covers | +5 % | +10 % | +50 % |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for family in FAMILIES:
        if arguments.only in family.name:
            numbers = measure_family(family, arguments.pairs)
            print(f"| {family.name} | {' | '.join(f'{number:.1f}' for number in numbers)} |", flush=True)


if __name__ == "__main__":
    main()
