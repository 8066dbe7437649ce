"""Verdicts on rare events, such as errors: how often they are wrong, and how often intervals hold the true change.

All seeds are fixed. A deep run has the numbers of pairs that the table of docs/judgement.md is from. Events are errors
of 3200 requests (a sample of 0 or 1 each), or errors that are counted by minute for half an hour.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from numpy.random import Generator, default_rng
from numpy.typing import NDArray
from scipy import stats
from scipy.stats.contingency import relative_risk

from assay.judgement.batches import Cell, RunCells, count_places, measure_run
from assay.judgement.interval import Reason, Version, compare
from assay.judgement.repeats import pool_variances
from assay.judgement.verdict import Direction, Judgement, Margin, Verdict, judge
from tests.support.deep import is_deep

PAIRS = 2000 if is_deep() else 100
REQUESTS = 3200
MINUTES = 30
EVENTS = (3, 8, 15, 30, 100, 1000)
"""How many events are expected in a run of the base."""
DEVIATIONS = 3.5
Numbers = NDArray[np.int64]


def draw_requests(random: Generator, expected: float) -> Numbers:
    """Draw which requests fail, each with the same probability, and count them by place."""
    places = count_places(REQUESTS)
    sizes = np.bincount(np.arange(REQUESTS) * places // REQUESTS)
    return random.binomial(sizes, expected / REQUESTS)


def draw_minutes(random: Generator, expected: float) -> Numbers:
    """Draw the numbers of errors of minutes."""
    return random.poisson(expected / MINUTES, MINUTES)


def draw_bursts(random: Generator, expected: float) -> Numbers:
    """Draw the numbers of errors of minutes, where errors come three at a time."""
    return 3 * random.poisson(expected / 3 / MINUTES, MINUTES)


DRAWS: dict[str, Callable[[Generator, float], Numbers]] = {
    "requests": draw_requests,
    "minutes": draw_minutes,
    "bursts": draw_bursts,
}


def build_run(events: Sequence[int] | Numbers) -> RunCells:
    """Return the run with these numbers of events: of requests, or of minutes."""
    if len(events) == MINUTES:
        return RunCells(tuple(Cell(minute, "", int(count), 1) for minute, count in enumerate(events)), MINUTES)
    sizes = np.bincount(np.arange(REQUESTS) * len(events) // REQUESTS)
    pairs = zip(events, sizes, strict=True)
    return RunCells(
        tuple(Cell(place, "", int(count), int(size)) for place, (count, size) in enumerate(pairs)), REQUESTS
    )


def judge_runs(base: Sequence[RunCells], other: Sequence[RunCells]) -> Judgement:
    """Judge runs without a margin, as `assay.app.judging` does."""
    versions = [Version.from_runs(map(measure_run, runs)) for runs in (base, other)]
    noise = pool_variances([version.estimates for version in versions])
    return judge(compare(*versions, noise), Margin(), Direction.LOWER)


@dataclass(frozen=True, slots=True)
class Shares:
    """What is judged of pairs of versions, in percent of those that are judged; `least` is the lowest end."""

    judged: int
    holds: float
    better: float
    worse: float
    least: float


@cache
def measure_shares(kind: str, runs: int, ratio: float, expected: int) -> Shares:
    """Judge pairs of versions with so many runs each, of which the other has `ratio` times as many events."""
    random = default_rng([runs, round(10 * ratio), expected, *kind.encode()])
    judgements = []
    for _ in range(PAIRS):
        base, other = (
            [build_run(DRAWS[kind](random, factor * expected)) for _ in range(runs)] for factor in (1, ratio)
        )
        judgements.append(judge_runs(base, other))
    intervals = [item.interval for item in judgements if item.interval]
    truth = 100 * (ratio - 1)

    def percent_of(count: int) -> float:
        return 100 * count / len(intervals)

    return Shares(
        len(intervals),
        percent_of(sum(interval.low <= truth <= interval.high for interval in intervals)),
        percent_of(sum(item.verdict is Verdict.BETTER for item in judgements)),
        percent_of(sum(item.verdict is Verdict.WORSE for item in judgements)),
        min(interval.low for interval in intervals),
    )


def find_sampling_error(percent: float, count: int) -> float:
    return DEVIATIONS * math.sqrt(percent * (100 - percent) / count)


every_case = pytest.mark.parametrize(
    ("kind", "runs"), [("requests", 1), ("minutes", 1), ("bursts", 1), ("requests", 3), ("minutes", 5)]
)
every_number = pytest.mark.parametrize("expected", EVENTS)


@every_case
@every_number
def test_unchanged_rate_is_seldom_better_or_worse(kind: str, runs: int, expected: int) -> None:
    """Measured over 2000 pairs: see docs/judgement.md; by an interval that is linear in the ratio up to 11 %."""
    shares = measure_shares(kind, runs, 1, expected)
    assert shares.better + shares.worse <= 5 + find_sampling_error(5, shares.judged)


@every_case
@every_number
@pytest.mark.parametrize("ratio", [0.5, 1, 2])
def test_interval_of_a_rate_holds_the_true_change(kind: str, runs: int, expected: int, ratio: float) -> None:
    shares = measure_shares(kind, runs, ratio, expected)
    assert shares.holds >= 95 - find_sampling_error(95, shares.judged)
    assert shares.least >= -100


@every_case
@pytest.mark.parametrize(("ratio", "expected"), [(0.5, 100), (2, 100), (0.5, 1000), (2, 1000)])
def test_changed_rate_of_many_events_is_detected(kind: str, runs: int, ratio: float, expected: int) -> None:
    shares = measure_shares(kind, runs, ratio, expected)
    right, wrong = (shares.better, shares.worse) if ratio < 1 else (shares.worse, shares.better)
    assert wrong == 0
    assert right >= (35 if kind == "bursts" and expected == 100 else 80)


# Known numbers of errors at random times


def judge_counts(base: int, other: int, seed: int = 1) -> Judgement:
    """Judge runs of 3200 requests with so many errors."""
    random, places = default_rng(seed), count_places(REQUESTS)
    runs = [build_run(random.multinomial(count, [1 / places] * places)) for count in (base, other)]
    return judge_runs(runs[:1], runs[1:])


def judge_often(base: int, other: int) -> list[Judgement]:
    return [judge_counts(base, other, seed) for seed in range(51)]


@pytest.mark.parametrize(("base", "other"), [(15, 8), (8, 15), (30, 15), (10, 25), (12, 12), (6, 1), (100, 130)])
def test_interval_is_that_of_the_relative_risk(base: int, other: int) -> None:
    """SciPy computes the interval of Katz from the numbers alone, with the normal distribution."""
    expected = relative_risk(other, REQUESTS, base, REQUESTS).confidence_interval(0.95)
    widths = []
    for judgement in judge_often(base, other):
        assert judgement.interval
        low, high = 1 + judgement.interval.low / 100, 1 + judgement.interval.high / 100
        assert math.sqrt(low * high) == pytest.approx(other / base)
        widths.append(math.log(high / low))
    assert statistics.median(widths) == pytest.approx(math.log(expected.high / expected.low), rel=0.05)


@pytest.mark.parametrize("base", [2, 4, 8, 15, 30])
@pytest.mark.parametrize("other", [1, 3, 6, 9, 20, 31, 60])
def test_p_is_near_that_of_the_exact_test(base: int, other: int) -> None:
    """Of `base + other` errors, a number with a binomial distribution is in the base; p is the mid-p.

    Of one error against eight, p is too great: 5.6 instead of 2.1 %.
    """
    distribution = stats.binom(base + other, 0.5)
    fewer = min(base, other)
    exact = min(1.0, 2 * distribution.cdf(fewer - 1) + distribution.pmf(fewer))
    p = statistics.median(judgement.p or 0.0 for judgement in judge_often(base, other))
    assert 0.9 * exact - 0.02 <= p <= 1.1 * exact + 0.04


def test_fifteen_errors_and_eight_are_no_evidence() -> None:
    """The exact p is 0.21; by an interval that is linear in the ratio, 8 errors are better."""
    assert stats.fisher_exact([[15, REQUESTS - 15], [8, REQUESTS - 8]]).pvalue == pytest.approx(0.209, abs=0.001)
    judgements = judge_often(15, 8)
    assert sum(judgement.verdict is Verdict.OPEN for judgement in judgements) >= 50
    assert statistics.median(judgement.p or 0.0 for judgement in judgements) == pytest.approx(0.16, abs=0.02)


def test_no_events_in_a_run_are_not_judged() -> None:
    reasons = [judge_counts(*pair).reason for pair in ((0, 8), (8, 0), (0, 0))]
    assert reasons == [Reason.ZERO_BASE, Reason.ZERO_VALUE, Reason.ZERO_BASE]
