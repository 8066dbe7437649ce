"""Intervals over pairs of runs hold however often one looks."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest

from assay.judgement.sequential import PairedChange, compare_pairs
from assay.judgement.verdict import Direction, Verdict

SERIES, PAIRS = 80, 30
NOISE = 0.02  # of a run


def _decide_series(change: float, margin: float, seed: int) -> tuple[list[Verdict], float]:
    """Return the verdicts of series of pairs that end when they are decided, and their mean number of pairs."""
    chance = random.Random(seed)
    verdicts, count = [], 0
    for _ in range(SERIES):
        pairs = []
        verdict = Verdict.CANNOT_TELL
        while verdict is Verdict.CANNOT_TELL and len(pairs) < PAIRS:
            base, value = (level * math.exp(chance.gauss(0, NOISE)) for level in (1.0, 1 + change))
            pairs.append((Fraction(base), Fraction(value)))
            verdict = compare_pairs(pairs).decide(margin, Direction.LOWER, 0.95)
        verdicts.append(verdict)
        count += len(pairs)
    return verdicts, count / SERIES


def test_looking_after_each_pair_raises_no_false_alarms() -> None:
    """A t test after each pair calls a quarter of these series changed."""
    verdicts, _ = _decide_series(0.0, 0.0, 1)
    assert sum(verdict is not Verdict.CANNOT_TELL for verdict in verdicts) <= 0.05 * SERIES


@pytest.mark.parametrize(
    ("change", "verdict", "most_pairs"),
    [(0.05, Verdict.WORSE, 14), (0.10, Verdict.WORSE, 6), (-0.10, Verdict.BETTER, 6)],
)
def test_changes_are_decided_early(change: float, verdict: Verdict, most_pairs: int) -> None:
    verdicts, pairs = _decide_series(change, 2.0, 2)
    assert verdicts.count(verdict) >= 0.97 * SERIES
    assert pairs <= most_pairs


@pytest.mark.parametrize("level", [0.9, 0.95])
@pytest.mark.parametrize("count", [4, 7, 30])
def test_interval_ends_where_the_e_value_is_certain(count: int, level: float) -> None:
    """The e-value of the t statistic is that of Rouder et al., with a prior of variance 4."""
    change = PairedChange(count, 0.01, 0.004)
    interval = change.compute_interval(level)
    assert interval is not None
    t = (math.log1p(interval.high / 100) - change.mean) / change.error
    df, growth = count - 1, 1 + 4 * count
    e_value = growth**-0.5 * ((1 + t * t / df) / (1 + t * t / (df * growth))) ** ((df + 1) / 2)
    assert e_value == pytest.approx(1 / (1 - level), rel=1e-9)


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [
        ([1.0] * 2, Verdict.CANNOT_TELL),
        ([1.0] * 3, Verdict.SAME),
        ([1.1] * 3, Verdict.WORSE),
        ([0.9] * 3, Verdict.BETTER),
        ([1.1, 1.11, 1.12], Verdict.CANNOT_TELL),
    ],
)
def test_few_pairs_decide_on_constants_only(ratios: list[float], verdict: Verdict) -> None:
    change = compare_pairs([(Fraction(2), 2 * Fraction(ratio)) for ratio in ratios])
    assert change.decide(2.0, Direction.LOWER, 0.95) is verdict


@pytest.mark.parametrize(("half", "is_beyond"), [(5.0, True), (9.0, None), (30.0, False), (-5.0, False)])
def test_change_is_beyond_a_part_of_another(half: float, is_beyond: bool | None) -> None:
    change = compare_pairs([(Fraction(100), Fraction(value)) for value in (110, 112, 109, 111, 110)])
    assert change.is_beyond(half, 0.95) is is_beyond
