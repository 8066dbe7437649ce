"""Student's t of even degrees of freedom: as scipy has it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from assay.judgement.student_t import compute_cdf, compute_quantile, floor_to_even
from tests.support.deep import scale_examples

EVEN = range(2, 202, 2)
PROBABILITIES = (1e-6, 0.001, 0.025, 0.05, 0.2, 0.5, 0.8, 0.9, 0.95, 0.975, 0.995, 0.9995)
MANY = settings(derandomize=True, deadline=None, max_examples=scale_examples(300))


@MANY
@given(st.floats(-60, 60), st.sampled_from(EVEN))
def test_cdf_is_that_of_scipy(t: float, df: int) -> None:
    assert compute_cdf(t, df) == pytest.approx(stats.t.cdf(t, df), abs=1e-12, rel=0)


@pytest.mark.parametrize("probability", PROBABILITIES)
def test_quantile_is_that_of_scipy(probability: float) -> None:
    actual = [compute_quantile(probability, df) for df in EVEN]
    # The tail is 1 less the distribution function: its last bit moves the quantile of a millionth by 1e-9.
    precision = 1e-12 if probability >= 0.001 else 1e-7
    assert actual == pytest.approx([stats.t.ppf(probability, df) for df in EVEN], rel=precision)


def test_quantile_of_two_degrees_of_freedom_is_algebraic() -> None:
    # Of two degrees of freedom, the quantile is (2p - 1) / sqrt(2 p (1 - p)).
    assert compute_quantile(0.975, 2) == pytest.approx(0.95 / math.sqrt(2 * 0.975 * 0.025), rel=1e-14)


@MANY
@given(st.floats(0.001, 0.999), st.sampled_from(EVEN))
def test_cdf_of_a_quantile_is_the_probability(probability: float, df: int) -> None:
    assert compute_cdf(compute_quantile(probability, df), df) == pytest.approx(probability, abs=1e-14)


@pytest.mark.parametrize(
    ("t", "expected"), [(math.inf, 1.0), (-math.inf, 0.0), (1e200, 1.0), (-1e200, 0.0), (0.0, 0.5)]
)
def test_cdf_of_extreme_t_is_its_limit(t: float, expected: float) -> None:
    assert compute_cdf(t, 2) == expected


@pytest.mark.parametrize("df", [0, -2, 3, 63])
def test_odd_or_missing_degrees_of_freedom_are_refused(df: int) -> None:
    with pytest.raises(ValueError, match="must be even and at least 2"):
        compute_cdf(1.0, df)
    with pytest.raises(ValueError, match="must be even and at least 2"):
        compute_quantile(0.9, df)


@pytest.mark.parametrize("probability", [0.0, 1.0, -0.1])
def test_quantile_of_no_probability_is_refused(probability: float) -> None:
    with pytest.raises(ValueError, match="is not between 0 and 1"):
        compute_quantile(probability, 4)


@pytest.mark.parametrize(("df", "expected"), [(0.5, 2), (2.0, 2), (3.99, 2), (4.0, 4), (62.7, 62)])
def test_degrees_of_freedom_are_cut_to_even(df: float, expected: int) -> None:
    assert floor_to_even(df) == expected
