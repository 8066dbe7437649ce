"""Test labels of runs and phases, and cells of metrics without samples."""

from __future__ import annotations

from fractions import Fraction

import pytest

from assay.app.rendering import SAMPLES, cells
from assay.report.run_results import PhaseOf, RunFigures, told_apart
from assay.styles.row import Distribution, RunResults

NONE = Distribution(0, {"all": 0.0}, 0.0, {"all": 0.0}, 0.0, 0.0, (), Fraction(1), integral=True)
ONE = Distribution(1, {"all": 2.5}, 2.5, {"all": 0.0}, 2.5, 2.5, (), Fraction(1), integral=True)


def create_figures(run: str, phase: str = "") -> RunFigures:
    """Create the figures of a run or of a phase of it."""
    of = PhaseOf(run, phase, None, None) if phase else None
    return RunFigures(f"{run}:{phase}" if phase else run, {}, RunResults({}, {}, (), ()), 1, phase=of)


@pytest.mark.parametrize(
    ("named", "runs", "labels"),
    [
        (["v1", "v2"], [("a", ""), ("b", "")], ("v1", "v2")),
        (["v1", "v1"], [("a", ""), ("b", "")], ("v1 (a)", "v1 (b)")),
        (["v1", "v1"], [("a", "early"), ("a", "late")], ("early", "late")),
        (["v1", "v2"], [("a", "early"), ("b", "late")], ("v1 (early)", "v2 (late)")),
        (["v1", "v1"], [("a", "early"), ("b", "late")], ("v1 (a, early)", "v1 (b, late)")),
        (["v1", "v1", "v1 (a)"], [("a", ""), ("b", ""), ("c", "")], ("v1 (a)", "v1 (b)", "v1 (a) (c)")),
    ],
)
def test_phases_are_in_brackets_after_their_runs(
    named: list[str], runs: list[tuple[str, str]], labels: tuple[str, ...]
) -> None:
    assert told_apart(named, [create_figures(*run) for run in runs], "{name} ({id})") == labels


def test_id_used_as_label_is_not_the_name_of_another_run() -> None:
    runs = [create_figures(run) for run in ("a", "b", "c")]
    assert told_apart(["v1", "v1", "a"], runs, "{id}") == ("a", "b", "c")


def test_empty_distribution_has_size_only() -> None:
    assert cells(NONE, "all") == ("0", *["—"] * (len(SAMPLES) - 2))
    assert cells(ONE, "all") == ("1", "2.5", "2.5", "0", "2.5", "2.5")
