"""Test labels of runs and phases, and cells of metrics without samples."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from assay.app.build.report_details import SAMPLES, format_cells
from assay.number_styles.row import Distribution, RunResults
from assay.report.run_results import RunFigures, RunPhase, make_labels_unique

NONE = Distribution(0, {"all": 0.0}, 0.0, {"all": 0.0}, 0.0, 0.0, (), Fraction(1), integral=True)
ONE = Distribution(1, {"all": 2.5}, 2.5, {"all": 0.0}, 2.5, 2.5, (), Fraction(1), integral=True)


def create_figures(run: str, phase: str = "") -> RunFigures:
    """Create the figures of a run or of a phase of it."""
    phase_of_run = RunPhase(run, phase, None, None) if phase else None
    return RunFigures(f"{run}:{phase}" if phase else run, {}, RunResults({}, {}, (), ()), 1, phase=phase_of_run)


@pytest.mark.parametrize(
    ("given_names", "runs", "labels"),
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
    given_names: list[str], runs: list[tuple[str, str]], labels: tuple[str, ...]
) -> None:
    assert make_labels_unique(given_names, [create_figures(*run) for run in runs], "{name} ({id})") == labels


def test_id_used_as_label_is_not_the_name_of_another_run() -> None:
    runs = [create_figures(run) for run in ("a", "b", "c")]
    assert make_labels_unique(["v1", "v1", "a"], runs, "{id}") == ("a", "b", "c")


@pytest.mark.parametrize(
    ("ids", "named", "label_format", "labels"),
    [
        (["v1", "b"], {"v1"}, "{name} ({id})", ("v1", "v1 (b)")),
        (["b", "v1"], {"v1"}, "{id}", ("b", "v1")),
        (["v1", "b", "c"], {"v1"}, "{name} ({id})", ("v1", "v1 (b)", "v1 (c)")),
        (["v1", "v2"], {"v1", "v2"}, "{name} ({id})", ("v1 (v1)", "v1 (v2)")),  # long names, shortened to the same
    ],
)
def test_label_that_the_user_chose_stays(
    ids: list[str], named: set[str], label_format: str, labels: tuple[str, ...]
) -> None:
    runs = [replace(create_figures(run), is_named=run in named) for run in ids]
    assert make_labels_unique(["v1"] * len(ids), runs, label_format) == labels


def test_empty_distribution_has_size_only() -> None:
    assert format_cells(NONE, "all") == ("0", *["—"] * (len(SAMPLES) - 2))
    assert format_cells(ONE, "all") == ("1", "2.5", "2.5", "0", "2.5", "2.5")
