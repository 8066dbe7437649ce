"""Test `assay spec-diff` of report definitions: prose and the values it quotes, filters, summaries, verdict rules."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import CommandResult, run_assay
from tests.support.laboratory import ROOT
from tests.support.repositories import commit_folder
from tests.support.workspaces import Edit, copy_workspace

SATURATION = "specs/cometbft/prose/saturation.md"
HARNESS = ROOT / "golden" / "antelope" / "harness"
PIVOT = "Transactions in blocks, by rate (rows) and connections (columns)"
TPS = "specs/antelope/prose/tps.md"


@pytest.fixture(scope="module")
def shipped_specs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the shipped specs."""
    return copy_workspace(tmp_path_factory.mktemp("reports") / "before")


def run_diff(shipped_specs: Path, after: Path, cache: Path, *options: str) -> CommandResult:
    return run_assay("--cache", cache, "spec-diff", shipped_specs, after, *options)


def read_changes(shipped_specs: Path, place: Path, cache: Path, *edits: Edit) -> list[dict[str, Any]]:
    """Return the differences of reports, and all others, of a workspace with edits; check that no metric differs."""
    result = run_diff(shipped_specs, copy_workspace(place, *edits), cache, "--format", "json")
    assert (result.status, result.err) == (3, "")
    (system,) = result.parse_json()
    assert system["metrics"] == []
    return [*(item for report_items in system["reports"].values() for item in report_items), *system["elsewhere"]]


def list_labels(item: dict[str, Any], kind: str) -> list[tuple[str, str]]:
    return [(place["section"], place["label"]) for place in item["touches"] if place["kind"] == kind]


def test_prose_that_is_refused_is_no_state(shipped_specs: Path, cache: Path, tmp_path: Path) -> None:
    after = copy_workspace(tmp_path / "after", (SATURATION, "{{ valid_txs(", "{{ valid_tsx("))
    for states in ((shipped_specs, after), (after, shipped_specs)):
        result = run_diff(*states, cache)
        assert (result.status, result.out) == (1, "")
        assert "error[unknown-metric]: prose quotes `valid_tsx`, which is no metric, series or constant" in result.err


def test_a_changed_metric_touches_the_prose_that_quotes_it(shipped_specs: Path, cache: Path, tmp_path: Path) -> None:
    edit = ("specs/cometbft/metrics.dhall", "X.column c.validTxs", "X.plus (X.column c.validTxs) (X.column c.validTxs)")
    result = run_diff(shipped_specs, copy_workspace(tmp_path / "after", edit), cache, "--format", "json")
    (system,) = result.parse_json()
    (metric,) = (item for item in system["metrics"] if item["metric"] == "valid_txs")
    assert ("Saturation point", "Transactions, tx") in list_labels(metric, "quote")


def test_prose_of_revisions_is_read_as_it_was(shipped_specs: Path, cache: Path, tmp_path: Path) -> None:
    place = tmp_path / "repository"
    shutil.copytree(shipped_specs, place)
    commit_folder(place, "first")
    text = (place / SATURATION).read_text(encoding="utf-8")
    (place / SATURATION).write_text(text.replace("{{ valid_txs(", "{{ latency_max("), encoding="utf-8")
    result = run_assay("--cache", cache, "spec-diff", "HEAD", ".", cwd=place)
    assert result.status == 3
    assert "quoted value: Saturation point: {{ valid_txs(number = 1) }} -> {{ latency_max(number = 1) }}" in result.out


def build_harness_report(place: Path, out: Path, cache: Path) -> Path:
    command = ("build", "antelope/harness", "--run", HARNESS, "--to", "md", "-o", out)
    result = run_assay("--cache", cache, *command, cwd=place)
    assert result.status == 0, result.err
    return out


def test_builds_contain_their_prose(shipped_specs: Path, cache: Path, tmp_path: Path) -> None:
    after = copy_workspace(tmp_path / "after", (TPS, "tps_avg(", "tps_max("))
    first, second = (
        build_harness_report(shipped_specs, tmp_path / "first", cache),
        build_harness_report(after, tmp_path / "second", cache),
    )
    result = run_diff(first, second, cache)
    assert (result.status, result.err) == (3, "")
    assert "{{ tps_avg(decimals = 3) }} -> {{ tps_max(decimals = 3) }}" in result.out
    for states in ((first, shipped_specs), (after, second)):
        result = run_diff(*states, cache)
        assert (result.status, result.out, result.err) == (0, "nothing differs\n", "")

    prose = json.loads((first / "prose.json").read_text(encoding="utf-8"))
    assert prose["prose/tps.md"] == (shipped_specs / TPS).read_text(encoding="utf-8")
    (first / "prose.json").write_text(json.dumps(prose | {"prose/tps.md": "Nothing."}), encoding="utf-8")
    result = run_diff(first, shipped_specs, cache)
    assert result.status == 3
    assert (
        f"warning: {first / 'prose.json'}: the prose or the report differs from what the build recorded" in result.err
    )
    (first / "prose.json").write_text("[]", encoding="utf-8")
    assert (
        "error[prose]: the prose of the build is not what a build writes" in run_diff(first, shipped_specs, cache).err
    )
    (first / "prose.json").unlink()
    result = run_diff(first, second, cache)
    assert result.status == 0
    assert f"warning: {first}: the folder has no prose.json of this build, so its prose is not compared" in result.err


def test_changed_summary_names_its_averages(shipped_specs: Path, cache: Path, tmp_path: Path) -> None:
    edit = ("specs/cardano/summaries.dhall", "lowest = 29", "lowest = 28")
    (item,) = read_changes(shipped_specs, tmp_path / "after", cache, edit)
    touched_labels = list_labels(item, "table")
    assert len(touched_labels) == len(item["touches"])
    assert ("Resource Usage", "Process CPU usage, %") in touched_labels
    assert all(section != "Forging" for section, _ in touched_labels)  # one distribution over all hosts
    (item,) = read_changes(
        shipped_specs, tmp_path / "other", cache, (edit[0], "reciprocalPoints = True", "reciprocalPoints = False")
    )
    assert {place["kind"] for place in item["touches"]} == {"chart"}


def test_changed_filter_of_a_report_names_its_cells(shipped_specs: Path, cache: Path, tmp_path: Path) -> None:
    edit = ("specs/cardano/reports.dhall", "[ R.uses filters.unitary ]", "[] : List R.FilterUse")
    (item,) = read_changes(shipped_specs, tmp_path / "after", cache, edit)
    assert item["place"] == "filters / unitary"
    touched_labels = list_labels(item, "table")
    assert ("End-to-end propagation", "0.50 adoption, s") in touched_labels
    assert all(section != "Resource Usage" for section, _ in touched_labels)


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (("specs/antelope/upgrade.dhall", "notWorse metric.cpuUsage 10", "notWorse metric.cpuUsage 20"),
         {("verdict", "Conclusion/Expectations of the upgrade", "CPU usage, %")}),
        (("specs/cometbft/audit.dhall", "tolerance = 10", "tolerance = 20"),
         {("table", f"Saturation/{PIVOT}", label) for label in ("Transactions, tx", "Expected, tx")}),
        (("specs/cometbft/qa.dhall", "let tolerance = 10", "let tolerance = 20"), {
            *(("table", f"{group}Saturation point/{PIVOT}", label)
              for group in ("", "200-node testnet: ") for label in ("Transactions, tx", "Expected, tx")),
            *(("verdict", f"Results/{title}", label)
              for title in ("200-node testnet: Experiments compared with the baseline",
                            "200-node testnet: Chosen experiment compared with the baseline",
                            "Rotating-node testnet: Experiments compared with the baseline",
                            "Experiments compared with the baseline",
                            "Chosen experiment compared with the baseline",
                            "Overloaded experiment compared with the baseline",
                            "Experiment with a fault compared with the baseline")
              for label in ("Average latency, s", "Maximum latency, s", "Throughput, tx/s", "Transactions, tx")),
        }),
    ],
)  # fmt: skip
def test_rule_names_the_verdicts_that_it_changes(
    shipped_specs: Path, cache: Path, tmp_path: Path, edit: Edit, expected: set[tuple[str, str, str]]
) -> None:
    result = [
        item
        for item in read_changes(shipped_specs, tmp_path / "after", cache, edit)
        if not item["place"].startswith("choices")
    ]
    touched_places = {(place["kind"], place["section"], place["label"]) for item in result for place in item["touches"]}
    assert touched_places == expected


CHOSEN = ', absent = "no experiment without a fault that is saturated"'


def test_choice_names_the_blocks_of_its_rows(shipped_specs: Path, cache: Path, tmp_path: Path) -> None:
    """Tables, verdicts, averages and figures over its time, and those of choices that leave its row out.

    Each change has a second item, for the report on testnets, which shares the choices.
    """
    path = "specs/cometbft/qa.dhall"
    choice_edit = (path, CHOSEN, f"{CHOSEN}\n          , without = [] : List Text")
    item, _ = read_changes(shipped_specs, tmp_path / "overload", cache, choice_edit)
    assert item["place"] == "choices / overload / without"
    verdict = "Results/Overloaded experiment compared with the baseline"
    judged_rows = ("Average latency, s", "Maximum latency, s", "Throughput, tx/s", "Transactions, tx")
    assert list_labels(item, "verdict") == [(verdict, label) for label in judged_rows]
    assert {section for section, _ in list_labels(item, "figure")} == {"Overload"}
    item, _ = read_changes(shipped_specs, tmp_path / "fault", cache, (path, "constant.fault ]", "constant.overload ]"))
    assert item["place"] == "choices / fault / pins / #1 / constant"
    sections = {section for section, _ in list_labels(item, "verdict")}
    assert {"Results/Experiment with a fault compared with the baseline", verdict} <= sections
    item, _ = read_changes(
        shipped_specs, tmp_path / "words", cache, (path, '"Overloaded experiment"', '"The overloaded one"')
    )
    assert item["touches"] == []
