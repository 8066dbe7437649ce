"""Verdicts: what an interval, a margin and a direction say."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.judgement.batches import Cell, RunCells, measure_run
from assay.judgement.change import Change, Interval
from assay.judgement.interval import Comparison, Component, Reason, Spread, Version, compare
from assay.judgement.student_t import compute_quantile
from assay.judgement.verdict import Direction, Judgement, Margin, Verdict, judge

DF = 6
REACH = compute_quantile(0.975, DF)
SHORT_REACH = compute_quantile(0.95, DF)
TWO_PERCENT = Margin(percent=2.0)


def comparison(percent: float, error: float, reason: Reason | None = None, base: float = 50.0) -> Comparison:
    spread = Spread(error**2, DF, Component.TIME, DF + 1, reason)
    difference = Change(base * percent / 100, abs(base) * error / 100, DF)
    return Comparison(base, base * (1 + percent / 100), difference, Change(percent, error, DF), spread, 100)


def verdict(low: float, high: float, direction: Direction = Direction.LOWER) -> Verdict:
    """The verdict on a 95 % interval at a margin of 2 %."""
    return judge(comparison((low + high) / 2, (high - low) / 2 / REACH), TWO_PERCENT, direction).verdict


@pytest.mark.parametrize(
    ("low", "high", "lower", "higher", "neither"),
    [
        (2.1, 9.0, "worse", "better", "changed"),
        (-9.0, -2.1, "better", "worse", "changed"),
        (1.9, 9.0, "cannot tell", "cannot tell", "cannot tell"),
        (-9.0, 1.0, "cannot tell", "cannot tell", "cannot tell"),
        (-9.0, 9.0, "cannot tell", "cannot tell", "cannot tell"),
        (-1.0, 1.0, "same", "same", "same"),
        (0.5, 1.5, "same", "same", "same"),
        (1.0, 2.1, "same", "same", "same"),
        (0.0, 3.0, "cannot tell", "cannot tell", "cannot tell"),
    ],
)
def test_verdict_is_that_of_interval_and_margin(low: float, high: float, lower: str, higher: str, neither: str) -> None:
    assert [verdict(low, high, direction) for direction in Direction] == [lower, higher, neither]


def test_same_is_judged_by_two_one_sided_tests() -> None:
    # The interval of 95 % reaches beyond the margin, that of 90 % does not.
    error = 2.0 / ((REACH + SHORT_REACH) / 2)
    judgement = judge(comparison(0.0, error), TWO_PERCENT, Direction.LOWER)
    assert judgement.interval is not None
    assert judgement.interval.high > 2.0
    assert judgement.verdict is Verdict.SAME
    assert judge(comparison(0.0, 2.01 / SHORT_REACH), TWO_PERCENT, Direction.LOWER).verdict is Verdict.CANNOT_TELL


def test_level_of_the_report_decides() -> None:
    change = comparison(5.0, 3.0 / compute_quantile(0.99, DF))
    levels = {level: judge(change, TWO_PERCENT, Direction.LOWER, level).verdict for level in (0.9, 0.95, 0.99)}
    assert levels == {0.9: "worse", 0.95: "worse", 0.99: "cannot tell"}


def test_judgement_has_what_decided() -> None:
    change = comparison(5.0, 1.0)
    judgement = judge(change, TWO_PERCENT, Direction.LOWER)
    assert judgement == Judgement(
        Verdict.WORSE,
        Direction.LOWER,
        None,
        change,
        Interval(5.0 - REACH, 5.0 + REACH),
        2.0,
        change.percent.compute_p(),
        change.percent.compute_p_above(2.0),
        2 * change.percent.compute_p_above(2.0),
    )


def test_sums_in_a_short_part_are_open_whatever_their_interval() -> None:
    for percent in (0.0, 50.0):
        judgement = judge(comparison(percent, 0.1, Reason.FEW_BATCHES), TWO_PERCENT, Direction.LOWER)
        assert (judgement.verdict, judgement.reason) == (Verdict.CANNOT_TELL, Reason.FEW_BATCHES)


@pytest.mark.parametrize(
    ("percent", "error", "verdict", "reason"),
    [(50.0, 0.1, "worse", None), (0.0, 0.1, "same", None), (1.0, 3.0, "cannot tell", Reason.TOO_SHORT)],
)
def test_short_run_is_judged_by_its_wider_interval(
    percent: float, error: float, verdict: str, reason: Reason | None
) -> None:
    judgement = judge(comparison(percent, error, Reason.TOO_SHORT), TWO_PERCENT, Direction.LOWER)
    assert (judgement.verdict, judgement.reason) == (verdict, reason)


def compare_with_timeout(timeout: int) -> Comparison:
    """Compare 63 samples of 10 ms with 62 such and one that is a timeout."""
    spread = [9, 11, 10, 12, 8, 10, 10]
    times = [spread[place % 7] for place in range(63)]
    runs = [RunCells(tuple(Cell(at, "", value, 1) for at, value in enumerate(items)), 63)
            for items in (times, [*times[:40], timeout, *times[41:]])]  # fmt: skip
    comparison = compare(*(Version.from_runs([measure_run(run)]) for run in runs))
    assert isinstance(comparison, Comparison)
    return replace(comparison, spread=replace(comparison.spread, reason=None))


@pytest.mark.parametrize("timeout", [2_000, 20_000, 1_000_000])
@pytest.mark.parametrize("direction", Direction)
def test_one_sample_never_decides(timeout: int, direction: Direction) -> None:
    comparison = compare_with_timeout(timeout)
    judgement = judge(comparison, TWO_PERCENT, direction)
    assert judgement.verdict is Verdict.CANNOT_TELL
    assert judgement.interval
    assert judgement.interval.low <= 2
    assert (judgement.p or 0) > 0.05
    assert (judgement.p_worse or 0) > 0.05


@pytest.mark.parametrize("reason", Reason)
def test_reason_is_passed_on(reason: Reason) -> None:
    judgement = judge(reason, TWO_PERCENT, Direction.LOWER)
    verdict = Verdict.DATA_LOST if reason is Reason.LOST_SAMPLES else Verdict.NO_INTERVAL
    assert judgement == Judgement(verdict, Direction.LOWER, reason)


@pytest.mark.parametrize(
    ("margin", "base", "percent"),
    [
        (Margin(2.0), 50.0, 2.0),
        (Margin(2.0, 0.002), 0.05, 4.0),
        (Margin(2.0, 0.002), 1.0, 2.0),
        (Margin(0.0, 0.002), -0.05, 4.0),
        (Margin(), 50.0, 0.0),
        (Margin(2.0, whole=100.0), 99.0, 2 / 99),
        (Margin(2.0, 0.5, whole=100.0), 99.0, 50 / 99),
        (Margin(2.0, whole=100.0), 100.0, 0.0),
        (Margin(2.0, whole=100.0), 40.0, 2.0),
        (Margin(2.0, whole=100.0), 120.0, 2.0),
    ],
)
def test_greater_of_percent_and_amount_is_the_margin(margin: Margin, base: float, percent: float) -> None:
    assert margin.convert_to_percent(base) == pytest.approx(percent)
    assert margin.convert_to_amount(base) == pytest.approx(percent * abs(base) / 100)
    assert judge(comparison(1.0, 1.0, base=base), margin, Direction.LOWER).margin == pytest.approx(percent)


def test_without_a_margin_any_change_counts() -> None:
    assert judge(comparison(0.1, 0.01), Margin(), Direction.LOWER).verdict is Verdict.WORSE
    assert judge(comparison(0.0, 0.01), Margin(), Direction.LOWER).verdict is Verdict.CANNOT_TELL


@pytest.mark.parametrize("sizes", [(-1.0, 0.0), (0.0, -1.0)])
def test_margin_below_0_is_refused(sizes: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="is below 0"):
        Margin(*sizes)


NUMBERS = st.floats(-50, 50)
ERRORS = st.floats(0.01, 20)


@given(NUMBERS, ERRORS, st.floats(0, 10))
def test_directions_mirror_each_other(percent: float, error: float, margin: float) -> None:
    low = judge(comparison(percent, error), Margin(margin), Direction.LOWER)
    high = judge(comparison(-percent, error), Margin(margin), Direction.HIGHER)
    assert (low.verdict, low.p, low.p_worse) == (high.verdict, high.p, high.p_worse)


@given(NUMBERS, ERRORS, st.floats(0, 10))
def test_worse_has_a_small_p_of_the_gate(percent: float, error: float, margin: float) -> None:
    judgement = judge(comparison(percent, error), Margin(margin), Direction.LOWER)
    assert judgement.p_worse is not None
    if judgement.verdict is Verdict.WORSE:
        assert judgement.p_worse < 0.025 + 1e-9
    if judgement.verdict in (Verdict.SAME, Verdict.BETTER):
        assert judgement.p_worse > 0.5


@given(NUMBERS, ERRORS)
def test_metric_without_direction_is_never_worse(percent: float, error: float) -> None:
    judgement = judge(comparison(percent, error), Margin(1.0), Direction.NEITHER)
    assert judgement.verdict in (Verdict.CHANGED, Verdict.SAME, Verdict.CANNOT_TELL)
    assert judgement.p_worse == 1.0
