"""Noise from run to run: pooled variances, and how many runs detect a change."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from assay.judgement.noise import CHANGES, count_runs_to_detect, measure_noise
from assay.judgement.repeats import RunNoise, describe_noise, pool_variances

FRACTIONS = st.lists(st.fractions(-1000, 1000, max_denominator=1000), max_size=6)


def fractions(*numbers: int) -> list[Fraction]:
    return [Fraction(number) for number in numbers]


def test_variances_of_versions_are_pooled() -> None:
    # (1 + 1) of three runs around 2, and (2 + 2) of two runs around 100
    groups = [fractions(1, 2, 3), [Fraction(98), Fraction(102)], fractions(7)]
    assert pool_variances(groups) == RunNoise((2 + 8) / 3, 3)


@pytest.mark.parametrize("groups", [[], [[]], [fractions(1, 5)], [fractions(1), fractions(2), fractions(3)]])
def test_fewer_than_two_degrees_of_freedom_are_no_noise(groups: list[list[Fraction]]) -> None:
    assert pool_variances(groups) is None


def test_two_runs_of_two_versions_are_enough() -> None:
    assert pool_variances([fractions(1, 3), fractions(10, 14)]) == RunNoise(5.0, 2)


@given(st.lists(FRACTIONS, max_size=4))
def test_order_of_runs_and_versions_changes_no_bit(groups: list[list[Fraction]]) -> None:
    assert pool_variances([group[::-1] for group in groups[::-1]]) == pool_variances(groups)


@given(FRACTIONS, st.fractions(-1000, 1000))
def test_level_of_a_version_changes_no_bit(group: list[Fraction], level: Fraction) -> None:
    assert pool_variances([[value + level for value in group]]) == pool_variances([group])


@pytest.mark.parametrize(
    ("runs", "calibration", "sentence"),
    [
        ((1, 1), 5, "Intervals hold what varies within runs and from run to run: 5 calibration runs."),
        ((3, 3), 0, "Intervals hold what varies within runs and from run to run: 3 and 3 runs."),
        (
            (3, 2, 1),
            1,
            "Intervals hold what varies within runs and from run to run: 1 calibration run, 3, 2 and 1 runs.",
        ),
    ],
)
def test_sentence_names_the_repeats(runs: tuple[int, ...], calibration: int, sentence: str) -> None:
    assert describe_noise(True, runs, calibration) == sentence


def test_sentence_says_that_repeats_lack() -> None:
    assert describe_noise(False, (1, 1), 0) == (
        "Intervals hold what varies within these runs (batches of time, hosts)."
        " How much a run differs from the next is not known: there are too few repeats."
    )


def test_noise_is_in_percent_of_the_mean() -> None:
    noise = measure_noise(fractions(98, 100, 102))
    assert noise is not None
    assert (noise.runs, noise.mean, noise.deviation, noise.percent) == (3, 100.0, 2.0, 2.0)
    assert noise.runs_to_detect == tuple(count_runs_to_detect(change, 2.0) for change in CHANGES) == (64, 17, 4)


@pytest.mark.parametrize("estimates", [[], fractions(1), fractions(1, 2), fractions(-1, 0, 1)])
def test_too_few_runs_have_no_noise(estimates: list[Fraction]) -> None:
    assert measure_noise(estimates) is None


@pytest.mark.parametrize("ratio", [0.15, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0])
def test_runs_to_detect_have_the_power(ratio: float) -> None:
    """The exact power is that of the noncentral t distribution."""
    runs = count_runs_to_detect(ratio, 1.0)
    assert runs is not None
    assert power(runs, ratio) >= 0.795
    assert runs == 2 or power(runs - 2, ratio) < 0.8


def power(runs: int, ratio: float) -> float:
    """Return the chance that a change of so many standard deviations is detected."""
    df, shift = 2 * (runs - 1), ratio / math.sqrt(2 / runs)
    reach = stats.t.ppf(0.975, df)
    return float(stats.nct.sf(reach, df, shift) + stats.nct.cdf(-reach, df, shift)) if runs > 1 else 0.0


def test_small_change_is_beyond_a_thousand_runs() -> None:
    assert count_runs_to_detect(0.01, 1.0) is None


def test_no_noise_needs_two_runs() -> None:
    assert count_runs_to_detect(1.0, 0.0) == 2
