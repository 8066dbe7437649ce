"""Verdicts of the median, p95 and p99: false alarms, power, and what gets none."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.random import Generator, default_rng

from assay.judgement.batches import count_places
from assay.judgement.quantile_interval import find_index
from assay.judgement.shift import SHARES, STEPS, RunQuantiles
from assay.judgement.tails import JUDGED, TailChange, TailRule, judge_tails, judge_tails_of_repeats
from assay.judgement.verdict import Direction, Margin, Verdict
from tests.support.deep import is_deep

PAIRS = 200 if is_deep() else 40
P99 = Fraction(99, 100)
Draw = Callable[[Generator, float], np.ndarray]


def measure(samples: np.ndarray) -> RunQuantiles:
    """Return the quantiles of a run with a sample at each unit of time."""
    count, ordered = len(samples), np.sort(samples)
    quantiles = tuple(float(ordered[find_index(count, share)]) for share in SHARES)
    last = min(STEPS, count - 1)
    steps = tuple(float(ordered[index * (count - 1) // last]) for index in range(last + 1))
    parts = np.array_split(samples, count_places(count))
    places = tuple(
        (place, len(part), tuple(int((part <= value).sum()) for value in quantiles)) for place, part in enumerate(parts)
    )
    return RunQuantiles(quantiles, steps, places, count)


def judge(base: np.ndarray, other: np.ndarray, direction: Direction = Direction.LOWER) -> dict[Fraction, TailChange]:
    changes = judge_tails(measure(base), measure(other), TailRule(Margin(2.0), direction, 0.95, 8))
    return {change.share: change for change in changes}


def draw_tail(random: Generator, factor: float) -> np.ndarray:
    """Draw 4000 times; the slowest hundredth is longer by a factor."""
    times = 20 * np.exp(0.3 * random.standard_normal(4000))
    return np.where(times > np.quantile(times, 0.985), times * factor, times)


FAMILIES: dict[str, Draw] = {
    "lognormal": lambda random, factor: factor * np.exp(0.2 * random.standard_normal(4000)),
    "heavy tail": lambda random, factor: factor * np.exp(1.2 * random.standard_normal(4000)),
    "rounded": lambda random, factor: np.floor(factor * 12 * np.exp(0.4 * random.standard_normal(4000))),
    "few samples": lambda random, factor: factor * np.exp(0.2 * random.standard_normal(400)),
    "bursts": lambda random, factor: factor * np.exp(0.2 * random.standard_normal(4000))
    * np.where(np.repeat(random.random(100) < 0.2, 40), 3.0, 1.0),
}  # fmt: skip


@pytest.mark.parametrize("name", FAMILIES)
def test_unchanged_quantiles_seldom_have_a_verdict(name: str) -> None:
    random = default_rng(1)
    pairs = [judge(FAMILIES[name](random, 1.0), FAMILIES[name](random, 1.0)) for _ in range(PAIRS)]
    for share in JUDGED:
        assert sum(share in pair for pair in pairs) / PAIRS <= 0.04 + 3 / PAIRS
    assert sum(any(change.is_closing for change in pair.values()) for pair in pairs) <= PAIRS / 100


def test_doubled_tail_is_worse_and_closes_the_gate() -> None:
    random = default_rng(2)
    pairs = [judge(draw_tail(random, 1.0), draw_tail(random, 2.2)) for _ in range(PAIRS)]
    tails = [pair[P99] for pair in pairs if P99 in pair]
    assert len(tails) >= 0.9 * PAIRS
    assert {change.verdict for change in tails} == {Verdict.WORSE}
    assert sum(change.is_closing for change in tails) >= 0.45 * PAIRS
    assert all(change.value > 1.5 * change.base for change in tails)


@pytest.mark.parametrize(
    ("direction", "verdict", "is_closing"),
    [(Direction.LOWER, "worse", True), (Direction.HIGHER, "better", False), (Direction.NEITHER, "changed", False)],
)
def test_verdict_follows_the_direction(direction: Direction, verdict: str, is_closing: bool) -> None:
    random = default_rng(3)
    changes = judge(draw_tail(random, 1.0), 1.5 * draw_tail(random, 1.0), direction)
    assert {(item.verdict, item.is_closing) for item in changes.values()} == {(verdict, is_closing)}


def test_samples_beyond_a_quantile_in_few_batches_decide_nothing() -> None:
    """All slow requests of the other run are in one stretch of its time: a pause, not a tail."""
    random = default_rng(4)
    base, other = (draw_tail(random, 1.0) for _ in range(2))
    other[1000:1080] *= 4
    assert P99 not in judge(base, other)


def test_few_samples_have_no_p99() -> None:
    random = default_rng(5)
    base, other = (np.exp(0.2 * random.standard_normal(400)) for _ in range(2))
    assert P99 not in judge(base, 3 * other)


def draw_repeats(random: Generator, factor: float) -> list[RunQuantiles]:
    """Draw three runs, which differ by 2 %; a factor is that of the slowest samples."""
    levels = np.exp(0.02 * random.standard_normal(3))
    return [measure(level * draw_tail(random, factor)) for level in levels]


def test_quantiles_of_repeats_are_judged_by_how_much_runs_differ() -> None:
    random, rule = default_rng(3), TailRule(Margin(2.0), Direction.LOWER, 0.95, 8)
    pairs: dict[float, list[tuple[TailChange, ...]]] = {
        factor: [
            judge_tails_of_repeats(draw_repeats(random, 1.0), draw_repeats(random, factor), rule)
            for _ in range(PAIRS)
        ]
        for factor in (1.0, 1.5)
    }  # fmt: skip
    for share in JUDGED:
        false = sum(any(change.share == share for change in changes) for changes in pairs[1.0])
        assert false / PAIRS <= 0.04 + 3 / PAIRS
    tails = [[change for change in changes if change.share == P99] for changes in pairs[1.5]]
    assert sum(map(bool, tails)) >= 0.9 * PAIRS
    assert all(change.verdict is Verdict.WORSE and change.p < 0.05 for changes in tails for change in changes)


def test_quantiles_of_repeats_need_samples_beyond_them() -> None:
    base, other = ([measure(factor * np.linspace(1, 2, 300)) for _ in range(3)] for factor in (1.0, 1.5))
    other[0] = measure(1.51 * np.linspace(1, 2, 300))
    changes = judge_tails_of_repeats(base, other, TailRule(Margin(2.0), Direction.LOWER, 0.95, 8))
    assert [change.share for change in changes] == [share for share in JUDGED if share != P99]
