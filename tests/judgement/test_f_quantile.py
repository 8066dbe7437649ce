"""The table of F quantiles: as scipy has them."""

from __future__ import annotations

import pytest
from scipy import stats

from assay.judgement.f_quantile import find_f_90


@pytest.mark.parametrize("df", range(1, 200))
def test_f_quantile_is_that_of_scipy(df: int) -> None:
    assert find_f_90(df) == pytest.approx(stats.chi2.ppf(0.9, df) / df, abs=5.1e-7, rel=0)


def test_f_quantile_beyond_the_table_is_its_last() -> None:
    assert find_f_90(5000) == find_f_90(199)
    assert find_f_90(199) < 1.14 * stats.chi2.ppf(0.9, 5000) / 5000


def test_f_quantile_of_no_degrees_of_freedom_is_refused() -> None:
    with pytest.raises(ValueError, match="must be at least 1"):
        find_f_90(0)
