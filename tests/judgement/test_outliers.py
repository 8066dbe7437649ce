"""The rule of outliers, against the textbook formula in plain floats."""

from __future__ import annotations

import random
import statistics

import pytest

from assay.judgement.outliers import FEWEST, compute_fences


def find_plainly(values: list[float]) -> list[int]:
    """Return the side of each value by the modified z-score, with medians that are the upper of two."""
    median = statistics.median_high(values)
    deviation = 1.4826 * statistics.median_high([abs(value - median) for value in values])
    return [(value > median) - (value < median) if abs(value - median) > 3.5 * deviation else 0 for value in values]


@pytest.mark.parametrize("seed", range(20))
def test_reals_follow_the_modified_z_score(seed: int) -> None:
    numbers = random.Random(seed)
    values = [numbers.gauss(10, 1) for _ in range(numbers.randrange(FEWEST, 60))]
    values += [numbers.uniform(-40, 60) for _ in range(3)]
    fences = compute_fences(values, are_whole=False)
    assert [fences.classify(value) for value in values] == find_plainly(values)
    assert fences.median == statistics.median_high(values)


def test_whole_numbers_that_differ_by_one_may_be_equal() -> None:
    fences = compute_fences([7] * 9 + [8, 9, 5], are_whole=True)
    assert [fences.classify(value) for value in (5, 6, 7, 8, 9)] == [-1, 0, 0, 0, 1]


def test_reals_that_agree_leave_no_room() -> None:
    fences = compute_fences([1.0] * 9 + [1.0000001], are_whole=False)
    assert (fences.classify(1.0000001), fences.classify(1.0)) == (1, 0)


@pytest.mark.parametrize("are_whole", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_outlier_exceeds_the_margin_too(seed: int, are_whole: bool) -> None:
    numbers = random.Random(seed)
    values: list[float] = [numbers.choice([1000, 1000, 1001, 1019, 1020, 1021, 1040, 979]) for _ in range(30)]
    plain = compute_fences(values, are_whole)
    fences = compute_fences(values, are_whole, lambda median: median / 50)
    assert fences.median == plain.median
    for value in values:
        exceeds = abs(value - plain.median) > plain.median / 50
        assert fences.classify(value) == (plain.classify(value) if exceeds else 0)


def test_few_values_have_no_outliers() -> None:
    values = [1.0] * (FEWEST - 2) + [1000.0]
    assert compute_fences(values, are_whole=False).classify(1000.0) == 0
    assert compute_fences([1.0, *values], are_whole=False).classify(1000.0) == 1


def test_order_of_values_is_irrelevant() -> None:
    values = [random.Random(1).gauss(0, 1) for _ in range(12)]
    assert compute_fences(values, are_whole=False) == compute_fences(values[::-1], are_whole=False)
