"""Verdicts on rare events, such as errors: how often they are wrong, and how often intervals hold the true change.

All seeds are fixed. A deep run has the numbers of pairs that the table of bench/verdicts.md is from. Events
are errors of 3200 requests (a sample of 0 or 1 each), or errors that are counted by minute for half an hour.
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
    """Judge runs without a margin, as `assay.app.judge.judging` does."""
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
    judged = [item for item in judgements if item.comparison]
    intervals = [item.interval for item in judged if item.interval and item.comparison and item.comparison.percent]
    truth = 100 * (ratio - 1)

    return Shares(
        len(judged),
        100 * sum(interval.low <= truth <= interval.high for interval in intervals) / len(intervals),
        100 * sum(item.verdict is Verdict.BETTER for item in judged) / len(judged),
        100 * sum(item.verdict is Verdict.WORSE for item in judged) / len(judged),
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
    """Measured over 2000 pairs: see bench/verdicts.md; by an interval that is linear in the ratio up to 11 %."""
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
        assert judgement.comparison
        interval = judgement.comparison.judged.compute_interval()
        low, high = 1 + interval.low / 100, 1 + interval.high / 100
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
    assert sum(judgement.verdict is Verdict.CANNOT_TELL for judgement in judgements) >= 50
    assert statistics.median(judgement.p or 0.0 for judgement in judgements) == pytest.approx(0.16, abs=0.02)


# No event in one of the runs

every_rare_number = pytest.mark.parametrize("expected", [0.5, 1, 2, 3, 5])


def judge_pair(kind: str, random: Generator, base: float, other: float) -> tuple[int, int, Judgement]:
    """Judge one run of each version; return the numbers of their events, too."""
    events = [DRAWS[kind](random, expected) for expected in (base, other)]
    runs = [build_run(item) for item in events]
    return int(events[0].sum()), int(events[1].sum()), judge_runs(runs[:1], runs[1:])


@pytest.mark.parametrize("kind", DRAWS)
@every_rare_number
def test_no_events_by_chance_are_seldom_a_change(kind: str, expected: float) -> None:
    """Of all pairs of unchanged runs, few are worse or better and have events in one run only."""
    random = default_rng([7, round(10 * expected), *kind.encode()])
    pairs = [judge_pair(kind, random, expected, expected) for _ in range(PAIRS)]
    verdicts = [judgement.verdict for base, other, judgement in pairs if (base == 0) != (other == 0)]
    false = sum(verdict in (Verdict.WORSE, Verdict.BETTER) for verdict in verdicts)
    assert 100 * false <= 5 * len(verdicts) + DEVIATIONS * math.sqrt(5 * 95 * len(verdicts)) + 100


@pytest.mark.parametrize(("kind", "expected", "least"), [
    ("requests", 10, 65), ("requests", 30, 98), ("requests", 100, 98),
    ("minutes", 10, 43), ("minutes", 30, 92), ("minutes", 100, 94),
    ("bursts", 30, 42), ("bursts", 100, 92),
])  # fmt: skip
def test_events_after_none_are_detected(kind: str, expected: int, least: int) -> None:
    random = default_rng([8, expected, *kind.encode()])
    verdicts = [judge_pair(kind, random, 0, expected)[2].verdict for _ in range(PAIRS)]
    assert Verdict.BETTER not in verdicts
    share = 100 * verdicts.count(Verdict.WORSE) / PAIRS
    assert share >= least - find_sampling_error(least, PAIRS)


@pytest.mark.parametrize(("events", "worse"), [(2, 0), (5, 0), (100, 50)])
def test_verdict_on_events_after_none(events: int, worse: int) -> None:
    """Five errors after none are no evidence: the exact p is 0.06."""
    judgements = judge_often(0, events)
    assert all(item.comparison and item.comparison.percent is None for item in judgements)
    assert sum(item.verdict is Verdict.WORSE for item in judgements) >= worse
    assert worse or all(item.verdict is Verdict.CANNOT_TELL for item in judgements)


def test_exchanged_versions_have_the_same_p() -> None:
    runs = [build_run(default_rng(1).multinomial(count, [1 / 63] * 63)) for count in (0, 12)]
    rise, fall = judge_runs(runs[:1], runs[1:]), judge_runs(runs[1:], runs[:1])
    assert rise.p == pytest.approx(fall.p)
    assert (rise.verdict, fall.verdict) == (Verdict.WORSE, Verdict.BETTER)


def test_only_an_amount_is_a_margin_from_zero() -> None:
    runs = [build_run(default_rng(1).multinomial(count, [1 / 63] * 63)) for count in (0, 100)]
    comparison = compare(*(Version.from_runs([measure_run(run)]) for run in runs))
    margins = (Margin(50), Margin(50, 0.01), Margin(50, 0.1))
    verdicts = [judge(comparison, margin, Direction.LOWER).verdict for margin in margins]
    assert verdicts == [Verdict.WORSE, Verdict.WORSE, Verdict.SAME]


def test_no_events_in_both_runs_are_the_same() -> None:
    assert judge_counts(0, 0).verdict is Verdict.SAME


def test_constant_after_zeros_is_not_judged() -> None:
    runs = [RunCells(tuple(Cell(place, "", value, 1) for place in range(63)), 189) for value in (0, 5)]
    assert judge_runs(runs[:1], runs[1:]).reason is Reason.CONSTANT
