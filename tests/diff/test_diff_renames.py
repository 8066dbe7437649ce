"""Test `assay spec-diff` of renamed metrics: formulas over them are unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import run_assay
from tests.support.small import create_small_workspace
from tests.support.workspaces import copy_workspace

SPECS = """\
let M = S.metric

let rows = S.Grain::{ name = "rows", relation = "ids", key = [ "id" ], columns = [ id, n ], doc = "rows" }

let ids = relation "ids" "SELECT id, max(a) AS n FROM began GROUP BY id" [ "began" ] [ id, n ] [ "id" ]

let formula =
      \\(id : Text) ->
      \\(over : X.Expression) ->
        M.formula { id, name = "f", doc = "f", formula = over, unit = U.count }

let number = metric "number" "rows" (X.column n) U.count // { name = "n", doc = "n" }

let doubled =
      formula "doubled" (X.times (X.natural 2) (M.value number)) // { examples =
        [ M.example [ M.input number 2.0 U.count ] "4" U.count "twice" ] }

let more = formula "more" (X.plus (M.value doubled) (X.natural 1))
"""
PACKAGE = """sources = [ source "log" ], events = [ began ], relations = [ ids ], grains = [ rows ],
  metrics = [ number, doubled, more ]"""


def list_differing_metrics(tmp_path: Path, cache: Path, *edits: tuple[str, str]) -> list[tuple[str, str, str]]:
    """Return kind, metric and former id of each metric that differs after edits."""
    text = SPECS
    for before, after in edits:
        assert before in text
        text = text.replace(before, after)
    first_workspace, second_workspace = (
        create_small_workspace(tmp_path / "one", SPECS, PACKAGE),
        create_small_workspace(tmp_path / "other", text, PACKAGE),
    )
    result = run_assay(
        "--cache", cache, "spec-diff", first_workspace, second_workspace, "--format", "json", cwd=tmp_path
    )
    assert result.err == ""
    return [(item["kind"], item["metric"], item["was"]) for system in result.parse_json() for item in system["metrics"]]


def test_formula_over_a_renamed_metric_means_the_same(tmp_path: Path, cache: Path) -> None:
    result = list_differing_metrics(tmp_path, cache, ('metric "number"', 'metric "amount"'))
    assert result == [("renamed", "amount", "number")]


def test_renamed_formulas_over_each_other_are_recognized(tmp_path: Path, cache: Path) -> None:
    edits = (('metric "number"', 'metric "amount"'), ('"doubled"', '"twice"'), ('"more"', '"one_more"'))
    assert sorted(list_differing_metrics(tmp_path, cache, *edits)) == [
        ("renamed", "amount", "number"), ("renamed", "one_more", "more"), ("renamed", "twice", "doubled"),
    ]  # fmt: skip


def test_formula_that_changed_beside_a_rename_is_listed(tmp_path: Path, cache: Path) -> None:
    edits = (('metric "number"', 'metric "amount"'), ("X.natural 2", "X.natural 3"), ('"4"', '"6"'))
    assert sorted(list_differing_metrics(tmp_path, cache, *edits)) == [
        ("changed in meaning", "doubled", ""), ("changed in meaning", "more", ""), ("renamed", "amount", "number"),
    ]  # fmt: skip


LEADING = ("specs/cardano/grains/block.dhall", 'latest "leading"', 'latest "led"')
TICKED = ("specs/cardano/metrics/forging.dhall", ", measure = elapsed at.leading at.ticked",
          ", measure = elapsed at.started at.ticked")  # fmt: skip


@pytest.fixture(scope="module")
def shipped_specs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_workspace(tmp_path_factory.mktemp("shipped"))


def read_changes(
    shipped_specs: Path, changed_workspace: Path, cache: Path
) -> dict[str, tuple[str, list[tuple[str, str, str, str]]]]:
    """Return kind and changes of each metric that differs from the shipped specs; check that nothing else differs."""
    result = run_assay(
        "--cache", cache, "spec-diff", shipped_specs, changed_workspace, "--format", "json", cwd=changed_workspace
    )
    assert (result.status, result.err) == (3, "")
    (system,) = result.parse_json()
    assert (system["elsewhere"], system["reports"]) == ([], {})
    return {
        item["metric"]: (
            item["kind"],
            [tuple(change[member] for member in CHANGE_MEMBERS) for change in item["changes"]],
        )
        for item in system["metrics"]
    }


CHANGE_MEMBERS = ("aspect", "place", "before", "after")


def test_renamed_instant_hides_no_change_of_meaning(shipped_specs: Path, tmp_path: Path, cache: Path) -> None:
    result = read_changes(shipped_specs, copy_workspace(tmp_path / "changed", LEADING, TICKED), cache)
    measure = ("measure", "measure", "minus(instant ticked, instant led)", "minus(instant ticked, instant started)")
    kind, items = result["cdfForgerTicked"]
    assert (kind, items[0]) == ("changed in meaning", measure)
    assert {kind for name, (kind, _) in result.items() if name != "cdfForgerTicked"} == {"changed in wording"}


def test_instant_with_another_rule_is_not_a_rename(shipped_specs: Path, tmp_path: Path, cache: Path) -> None:
    other_edit = (LEADING[0], "X.equals (G.field f.leader) X.yes", "X.not (X.equals (G.field f.leader) X.yes)")
    changed_workspace = copy_workspace(tmp_path / "changed", LEADING, other_edit)
    assert read_changes(shipped_specs, changed_workspace, cache)["cdfForgerTicked"][0] == "changed in meaning"
