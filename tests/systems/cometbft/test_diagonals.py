"""Test diagonals of saturation tables: those that documents choose are bold, and shades tell them apart."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.compare_reference import load_json
from tests.support.commands import run_assay
from tests.support.laboratory import ROOT
from tests.support.loads import Experiment, create_load_run
from tests.support.workspaces import copy_workspace, edit_file

PUBLISHED = ROOT / "golden" / "cometbft" / "published"
TITLE = "Transactions in blocks, by rate (rows) and connections (columns)"
AUDIT = "specs/cometbft/audit.dhall"
#: version -> (rate, connections) of the cells that the QA documents print in bold
BOLD = {
    "v034": {(200, 2), (100, 4)},
    "v037": {(200, 2), (100, 4)},
    "v038": {(400, 1), (200, 2)},
    "v1": {(400, 1), (200, 2)},
}
#: version -> the configuration that its QA document chooses
CHOSEN = {
    "v034": "connections 2, rate 200",
    "v037": "connections 2, rate 200",
    "v038": "connections 1, rate 400",
    "v1": "connections 1, rate 400",
}


def build_part(out: Path, cache: Path, *runs: Path, article: str = "published", cwd: Path = ROOT) -> Any:
    """Return the part with saturation tables of a report on some runs."""
    options: list[str | Path] = [item for run in runs for item in ("--run", run)]
    options += ["--date", "2026-11-21", "--to", "md", "-o", out, "--cache", cache]
    result = run_assay("build", f"cometbft/{article}", *options, cwd=cwd)
    assert result.status == 0, result.err
    galleries = load_json(out / "document.json")["parts"]
    return next(item for item in galleries if item["title"].startswith("Saturation"))


def read_marks(table: Any) -> dict[tuple[int, int], list[str]]:
    """Return (rate, connections) of each cell of a saturation table -> the kinds of its marks."""
    connections = [int(text) for text in table["header"][1:]]
    marks: dict[tuple[int, int], list[str]] = {
        (int(row[0]), number): [] for row in table["rows"] for number in connections
    }
    for mark in table.get("marks", []):
        marks[int(table["rows"][mark["row"]][0]), connections[mark["column"] - 1]].append(mark["kind"])
    return marks


def list_strong(table: Any) -> set[tuple[int, int]]:
    return {place for place, kinds in read_marks(table).items() if "strong" in kinds}


def find_shade(kinds: list[str]) -> str:
    """Return the shade of a cell, of which it has at most one."""
    shades = [kind for kind in kinds if kind != "strong"]
    assert len(shades) <= 1
    return "".join(shades)


def assert_shades_tell_diagonals_apart(table: Any) -> None:
    """Assert that cells share a shade if their loads are equal, and not if they touch and their loads differ."""
    shades = {place: find_shade(kinds) for place, kinds in read_marks(table).items()}
    rates, connections = (sorted({place[axis] for place in shades}) for axis in (0, 1))
    by_load: dict[int, set[str]] = {}
    for (rate, number), shade in shades.items():
        by_load.setdefault(rate * number, set()).add(shade)
    assert all(len(group) == 1 for group in by_load.values())
    for y, rate in enumerate(rates):
        for x, number in enumerate(connections):
            for down, right in ((0, 1), (1, 0), (1, -1)):
                if y + down < len(rates) and 0 <= x + right < len(connections):
                    other = rates[y + down], connections[x + right]
                    if other[0] * other[1] != rate * number:
                        assert shades[other] != shades[rate, number], (other, rate, number)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Any:
    return build_part(tmp_path_factory.mktemp("all") / "out", cache, *(PUBLISHED / name for name in BOLD))


def test_diagonal_of_the_last_version_is_bold_in_all_tables(published: Any) -> None:
    tables = [table for table in published["tables"] if table["title"].startswith(TITLE)]
    assert [list_strong(table) for table in tables] == list(BOLD.values())
    assert published["text"][-2:] == [
        "Chosen configuration: v0.38: connections 1, rate 400; v1: connections 1, rate 400.",
        "v0.34, v0.37 have no reported experiment with connections 1, rate 400.",
    ]


def test_rows_of_the_chosen_diagonal_are_bold(published: Any) -> None:
    diagonals = [table for table in published["tables"] if table["title"].startswith("Diagonals")]
    for table, places in zip(diagonals, BOLD.values(), strict=True):
        rows = {mark["row"] for mark in table["marks"] if mark["kind"] == "strong"}
        assert {(int(table["rows"][row][2]), int(table["rows"][row][1])) for row in rows} == places


def test_shades_of_published_tables_tell_diagonals_apart(published: Any) -> None:
    for table in published["tables"]:
        if table["title"].startswith(TITLE):
            assert_shades_tell_diagonals_apart(table)


@pytest.mark.parametrize(("version", "configuration"), CHOSEN.items())
def test_rule_chooses_what_the_document_chooses(version: str, configuration: str, tmp_path: Path, cache: Path) -> None:
    part = build_part(tmp_path / "out", cache, PUBLISHED / version)
    assert part["text"][-1] == f"Chosen configuration: {configuration}."
    assert list_strong(part["tables"][0]) == BOLD[version]


@pytest.mark.parametrize(
    ("facts", "tolerance", "configuration", "strong"),
    [
        # 31200 of 35600 transactions are 87.6 %: too few for a tolerance of 10 %, and 34600 are 97.2 %
        ({}, 10, "connections 2, rate 200", BOLD["v1"]),
        # 54706 of 71200 transactions are 76.8 %, 51146 are 71.8 %, 50464 are 70.9 %
        ({}, 25, "connections 2, rate 400", {(200, 4), (400, 2), (800, 1)}),
        # the run names its first experiment
        ({"experiments": {"chosen": 1}}, 15, "connections 1, rate 200", {(200, 1)}),
    ],
)
def test_another_rule_chooses_another_configuration(
    facts: dict[str, object],
    tolerance: int,
    configuration: str,
    strong: set[tuple[int, int]],
    tmp_path: Path,
    cache: Path,
) -> None:
    workspace = copy_workspace(tmp_path / "workspace")
    if tolerance != 15:
        edit_file(workspace / AUDIT, "tolerance = 15", f"tolerance = {tolerance}")
    run = shutil.copytree(PUBLISHED / "v1", tmp_path / "v1")
    (run / "meta.json").write_text(json.dumps({"ident": "v1"} | facts), encoding="utf-8")
    part = build_part(tmp_path / "out", cache, run, cwd=workspace)
    assert part["text"][-1] == f"Chosen configuration: {configuration}."
    assert list_strong(part["tables"][0]) == strong


def test_irregular_diagonals_do_not_look_like_one_group(tmp_path: Path, cache: Path) -> None:
    # 800 × 1 touches 200 × 2 at a corner, 800 × 2 touches it along an edge: no two of them are equal loads
    configurations = [(1, 50), (2, 50), (3, 50), (1, 100), (2, 100), (1, 200), (2, 200), (3, 200), (1, 800), (2, 800)]
    experiments = [
        Experiment(f"e{index}", 40 * index, connections, rate, count=29 * connections * rate // 50)
        for index, (connections, rate) in enumerate(configurations)
    ]
    run = create_load_run(tmp_path / "run", *experiments)
    part = build_part(tmp_path / "out", cache, run, article="qa")
    assert_shades_tell_diagonals_apart(part["tables"][0])
