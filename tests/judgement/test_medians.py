"""Comparison with the median of earlier runs: the measured coverage of its intervals, and its limits."""

from __future__ import annotations

import random
from fractions import Fraction
from statistics import median, variance

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.judgement.interval import Comparison, Reason
from assay.judgement.median import compare_with_median, compute_median, count_equivalent_runs, drop_stray
from assay.judgement.verdict import Direction, Margin, Verdict, judge
from tests.support.documentation import parse_page

DRAWS = 3000
TABLES = parse_page("docs/judgement-method.md").tables
TABLE = next(table for table in TABLES if table.header[0] == "median of so many runs")
ROWS = list(TABLE.rows)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_intervals_have_the_documented_rates(row: tuple[str, ...]) -> None:
    """Runs vary by 1 %: shares of intervals that hold no change, and that exclude 0 at a change of 5 %."""
    runs, covered, detected = int(row[0]), *(float(cell.removesuffix(" %")) / 100 for cell in row[1:])
    noise = random.Random(f"median of {runs}")
    hits, exclusions = 0, 0
    for _ in range(DRAWS):
        values = [Fraction(noise.gauss(100, 1)) for _ in range(runs)]
        value = Fraction(noise.gauss(100, 1))
        hits += is_within(compare_with_median(values, [value]))
        exclusions += not is_within(compare_with_median(values, [value + 5]))
    assert hits / DRAWS == pytest.approx(covered, abs=0.006)
    assert exclusions / DRAWS == pytest.approx(detected, abs=0.006)
    assert covered > 0.94  # expected are 95 %


def is_within(comparison: Comparison | Reason) -> bool:
    """Return whether the interval of a change holds 0."""
    assert isinstance(comparison, Comparison)
    interval = comparison.percent.compute_interval(0.95)
    return interval.low <= 0 <= interval.high


@pytest.mark.parametrize("count", range(3, 21))
def test_median_varies_no_more_than_its_equivalent_mean(count: int) -> None:
    """The variance of the median of standard normal numbers, of 20,000 draws."""
    noise = random.Random(count)
    medians = [median(noise.gauss(0, 1) for _ in range(count)) for _ in range(20_000)]
    assert variance(medians) <= 1.02 / count_equivalent_runs(count)


@given(st.lists(st.fractions(-1000, 1000), min_size=1, max_size=9))
def test_median_is_that_of_the_standard_library(values: list[Fraction]) -> None:
    assert compute_median(values) == median(values)


@given(st.lists(st.integers(50, 150), min_size=3, max_size=8, unique=True), st.integers(50, 150))
def test_order_and_unit_of_runs_do_not_matter(values: list[int], value: int) -> None:
    results = [
        compare_with_median([Fraction(item) * factor for item in ordered], [value * factor])
        for ordered in (values, [*sorted(values[:-1]), values[-1]])  # the newest run never stands out
        for factor in (Fraction(1), Fraction(8))
    ]
    changes = [item.percent for item in results if isinstance(item, Comparison)]
    assert len(changes) == len(results)
    assert all(change == pytest.approx(changes[0]) or abs(change.value - changes[0].value) < 1e-9 for change in changes)


@pytest.mark.parametrize(
    ("earlier", "compared", "reason"),
    [([1, 2], [1], Reason.TOO_FEW_RUNS), ([1, 2, 3], [], Reason.LOST_SAMPLES), ([2, 2, 2], [3], Reason.EQUAL_RUNS),
     ([0, 0, 0], [1], Reason.EQUAL_RUNS)],
)  # fmt: skip
def test_what_cannot_be_judged_has_its_reason(earlier: list[int], compared: list[int], reason: Reason) -> None:
    assert compare_with_median([*map(Fraction, earlier)], [*map(Fraction, compared)]) is reason


@pytest.mark.parametrize(("count", "least"), [(5, 12), (7, 40), (10, 58)])
def test_one_bad_night_hides_no_change(count: int, least: int) -> None:
    """A run 50 % above the others, and a change of 5 % where runs vary by 1 %."""
    noise = random.Random(count)
    verdicts = []
    for _ in range(200):
        runs = [Fraction(noise.gauss(100, 1)) for _ in range(count)]
        runs[0] += 50
        change = compare_with_median(runs, [Fraction(noise.gauss(105, 1))])
        verdicts.append(judge(change, Margin(2.0), Direction.LOWER).verdict)
    assert 100 * verdicts.count(Verdict.WORSE) / 200 >= least


@pytest.mark.parametrize("count", [5, 7, 10])
def test_intervals_without_a_stray_hold_the_truth(count: int) -> None:
    noise = random.Random(count)
    covered = 0
    for _ in range(1000):
        runs = [Fraction(noise.gauss(100, 1)) for _ in range(count)]
        change = compare_with_median(runs, [Fraction(noise.gauss(100, 1))])
        assert isinstance(change, Comparison)
        interval = change.judged.compute_interval()
        covered += interval.low <= 0 <= interval.high
    assert covered >= 920


def test_two_runs_that_stand_out_both_count() -> None:
    runs = [Fraction(item) for item in (100, 101, 99, 100, 102, 150, 151)]
    assert drop_stray(runs) == runs
    assert drop_stray(runs[:-1]) == runs[:-1]  # the newest may begin a level
    assert drop_stray([runs[5], *runs[:5]]) == runs[:5]
