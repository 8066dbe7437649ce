"""Labels of the runs of a version, and the means of their results."""

from __future__ import annotations

from fractions import Fraction

import pytest

from assay.number_styles.row import Centile, Distribution, FormulaResult, RunResults
from assay.report.run_results import RunFigures, make_labels_unique
from assay.report.tables import Table
from assay.report.versions import (
    VARYING,
    combine_columns,
    combine_runs,
    compute_mean,
    list_mean_notes,
    list_mixed_versions,
)


def create_run(
    run: str, version: str = "", size: int = 1, value: float = 0.0, formula: float | None = 1.0
) -> RunFigures:
    """Create a run whose metric `m` has equal samples, and whose formula `f` has a value."""
    centiles = (Centile(0.5, value, None, None, None),)
    distribution = Distribution(
        size, {"all": value}, value, {"all": 1.0}, value, value, centiles, Fraction(2), integral=True
    )
    results = RunResults({"m": distribution}, {}, (), ("odd",), formulas={"f": FormulaResult({"all": formula})})
    return RunFigures(run, {"cores": run}, results, 1, ("note",), version=version)


@pytest.mark.parametrize(
    ("constants", "runs", "labels", "columns"),
    [
        (["x", "x", "y"], [("a-1", "a"), ("a-2", "a"), ("b", "")], ("x (1)", "x (2)", "y"), ["x", "y"]),
        (["x", "z", "y"], [("a-1", "a"), ("a-2", "a"), ("b", "")], ("a (1)", "a (2)", "y"), ["a", "y"]),
        (
            ["x", "x", "x"],
            [("a-1", "a"), ("a-2", "a"), ("b", "")],
            ("x (a) (1)", "x (a) (2)", "x (b)"),
            ["x (a)", "x (b)"],
        ),
        (
            ["x", "x", "x (1)"],
            [("a-1", "a"), ("a-2", "a"), ("b", "")],
            ("x (1) (a-1)", "x (2)", "x (1) (b)"),
            ["x", "x (1) (b)"],
        ),
        (["x", "x"], [("a-1", "a"), ("a-2", "a")], ("x (1)", "x (2)"), ["x"]),
    ],
)
def test_runs_of_a_version_are_numbered(
    constants: list[str], runs: list[tuple[str, str]], labels: tuple[str, ...], columns: list[str]
) -> None:
    figures = [create_run(*run) for run in runs]
    assert make_labels_unique(constants, figures, "{name} ({id})") == labels
    assert [version.label for version in combine_runs(figures, constants, labels)] == columns


def test_version_has_the_means_of_its_runs() -> None:
    runs = [create_run("a-1", "a", 2, 1.0, 3.0), create_run("b", "", 1, 5.0), create_run("a-2", "a", 3, 4.0, 8.0)]
    version, other = combine_runs(runs, ["x", "y", "x"], ["x (1)", "y", "x (2)"])
    results = version.figures.results
    assert (version.id, version.label, version.runs) == ("a", "x", ("a-1", "a-2"))
    assert other.figures is runs[1]
    assert (results.metrics["m"].size, results.metrics["m"].averages) == (5, {"all": 2.5})
    assert (results.metrics["m"].median, results.metrics["m"].least, results.metrics["m"].greatest) == (2.5, 1.0, 4.0)
    assert results.metrics["m"].centiles == (Centile(0.5, 2.5, None, None, None),)
    assert results.formulas["f"].averages == {"all": 5.5}
    assert (version.figures.notes, results.warnings) == ((), ())
    assert [*list_mean_notes([version, other], ())] == ["Values are means of the averages of runs: 2 of x."]


def test_run_without_a_value_is_left_out() -> None:
    runs = [create_run("a-1", "a", 2, 1.0), create_run("a-2", "a", 0, 0.0, None), create_run("a-3", "a", 2, 2.0)]
    (version,) = combine_runs(runs, ["x", "x", "x"], ["x (1)", "x (2)", "x (3)"])
    results = version.figures.results
    assert (results.metrics["m"].size, results.metrics["m"].averages) == (4, {"all": 1.5})
    assert results.formulas["f"].averages == {"all": 1.0}
    assert version.counts == {"m": 2, "f": 2}


def test_version_without_any_value_has_none() -> None:
    runs = [create_run(run, "a", 0, 0.0, None) for run in ("a-1", "a-2")]
    (version,) = combine_runs(runs, ["x", "x"], ["x (1)", "x (2)"])
    assert version.figures.results.metrics["m"].size == 0
    assert version.figures.results.formulas["f"].averages == {"all": None}
    assert version.counts == {}


def test_single_runs_have_no_note() -> None:
    assert [*list_mean_notes(combine_runs([create_run("a"), create_run("b")], ["x", "y"], ["x", "y"]), ())] == []


def test_parameters_of_versions_say_where_runs_differ() -> None:
    runs = [create_run("a-1", "a"), create_run("a-2", "a"), create_run("b")]
    versions = combine_runs(runs, ["x", "x", "y"], ["x (1)", "x (2)", "y"])
    table = Table("Parameters", ("", "x (1)", "x (2)", "y"), (("Cores", "4", "4", "8"), ("Blocks", "56", "60", "61")))
    combined = combine_columns(table, versions, [run for version in versions for run in version.runs])
    assert (combined.header, combined.rows) == (("", "x", "y"), (("Cores", "4", "8"), ("Blocks", VARYING, "61")))


@pytest.mark.parametrize(
    ("values", "mean"),
    [([0.1, 0.2, 0.3], 0.2), ([1e308, 1e308], 1e308), ([1.0, float("inf")], float("inf")), ([3, 4], 3.5)],
)
def test_mean_is_rounded_once(values: list[float], mean: float) -> None:
    assert compute_mean(values) == mean


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (("1.0", "1.0", "1.1", "1.1"), []),
        (
            ("1.0", "1.1", "1.1", "1.1"),
            ["The runs of a call themselves differently: 1.0, 1.1. Are they of one version?"],
        ),
        (("night 1", "night 2", "night 3", "night 4"), []),
    ],
)
def test_runs_of_several_labels_in_one_version_are_named(labels: tuple[str, ...], expected: list[str]) -> None:
    runs = [create_run(f"r{number}", name) for number, name in enumerate("aabb")]
    assert list(list_mixed_versions(labels, runs)) == expected
