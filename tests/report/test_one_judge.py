"""Test that one judge decides on averages, wherever a report compares them: sections, comparisons, conclusions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.judgement.change import RatioChange
from assay.judgement.interval import Comparison, Component, Spread
from assay.judgement.report_judgements import JudgedChange
from assay.judgement.verdict import Direction, Margin, judge
from assay.report.rules import Outcome, decide_rule
from tests.support.commands import run_assay

PARTS = """
let S = ../schema/package.dhall

let B = S.block

let m = ./metrics.dhall

in  S.Report::{
    , name = "judged"
    , title = "{others} against {base}"
    , intro = "The same metrics, in a part."
    , parts =
      [ B.Part::{
        , title = "Times"
        , blocks =
              B.sections [ S.report.section "Times" [ m.wait, m.work, m.size ] ]
            # B.conclusions [ B.conclusion "Rules" [ B.notWorse m.wait 2, B.notWorse m.work 2, B.stays m.size 2 ] ]
        }
      ]
    , style = "prefixed"
    , label = (./source.dhall).constant.version.name
    }
"""
REPORTS = ", reports = [ (./reports.dhall).comparison"
RUNS = ("--run", "runs/1.0", "--run", "runs/1.1")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Return a workspace with two reports of the same metrics, each built over the same runs."""
    folder = tmp_path_factory.mktemp("judges") / "shop"
    assert run_assay("--cache", cache, "init", folder).status == 0
    package = folder / "specs" / "service" / "package.dhall"
    text = package.read_text(encoding="utf-8")
    assert REPORTS in text
    package.write_text(text.replace(REPORTS, f"{REPORTS}, ./judged.dhall"), encoding="utf-8")
    (folder / "specs" / "service" / "judged.dhall").write_text(PARTS, encoding="utf-8")
    for name in ("comparison", "judged"):
        built = run_assay("--cache", cache, "build", f"service/{name}", *RUNS, "-o", name, "--to", "md", cwd=folder)
        assert built.status == 0, built.err
    return folder


def read_judgements(folder: Path) -> dict[str, Any]:
    """Return the judgements of a build by metric, without what depends on the number of judged metrics."""
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    changes = {name: change for name, items in results["judgement"]["metrics"].items() for change in items.values()}
    dependent = ("gate", "by_itself", "tails", "equal_to")
    return {
        name: {member: value for member, value in change.items() if member not in dependent}
        for name, change in changes.items()
    }


def find_table(folder: Path, title: str) -> dict[str, Any]:
    document = json.loads((folder / "document.json").read_text(encoding="utf-8"))
    (table,) = (item for gallery in document["parts"] for item in gallery["tables"] if item["title"].startswith(title))
    return dict(table)


def test_metrics_have_one_verdict_in_sections_and_parts(shop: Path) -> None:
    of_sections, of_parts = read_judgements(shop / "comparison"), read_judgements(shop / "judged")
    assert len(of_parts) == 3
    assert {name: of_sections[name] for name in of_parts} == of_parts
    table = find_table(shop / "judged", "Times")
    assert [row[-1].lstrip("▲▼ ") for row in table["rows"][:-1]] == [
        of_parts[name]["verdict"] for name in ("wait", "work", "response_size")
    ]


def test_rule_is_decided_by_the_interval_of_its_change(shop: Path) -> None:
    """The interval of each change reaches across the limit of its rule."""
    table, changes = find_table(shop / "judged", "Rules"), read_judgements(shop / "judged")
    outcomes = {name: row[-1] for name, row in zip(table["of_rows"], table["rows"], strict=True)}
    assert table["header"][-3:] == ["95 %", "Rule", "Holds"]
    for name in ("wait", "response_size"):
        assert changes[name]["low"] < 2 < changes[name]["high"]
        assert (changes[name]["verdict"], outcomes[name]) == ("cannot tell", "cannot tell")


def test_gate_and_compare_read_reports_of_parts(shop: Path, cache: Path) -> None:
    gate = run_assay("--cache", cache, "gate", "judged", "--once", cwd=shop)
    assert gate.status in (0, 4), gate.err
    compared = run_assay("--cache", cache, "compare", *RUNS[1::2], "--report", "service/judged", cwd=shop)
    assert compared.status == 0, compared.err
    assert "Waiting time" in compared.out


@pytest.mark.parametrize(
    ("kind", "limit", "change", "outcome"),
    [
        ("falls", 50, (-80.0, 0.05), Outcome.HOLDS),
        ("falls", 50, (-52.0, 0.5), Outcome.CANNOT_TELL),
        ("falls", 50, (-20.0, 0.01), Outcome.VIOLATED),
        ("rises", 10, (20.0, 0.01), Outcome.HOLDS),
        ("not worse", 10, (5.0, 0.005), Outcome.HOLDS),
        ("not worse", 10, (12.0, 0.1), Outcome.CANNOT_TELL),
        ("not worse", 10, (40.0, 0.01), Outcome.VIOLATED),
        ("stays", 5, (-40.0, 0.01), Outcome.VIOLATED),
        ("stays", 5, (0.0, 0.2), Outcome.CANNOT_TELL),
        ("stays", 5, (1.0, 0.001), Outcome.HOLDS),
    ],
)
def test_rule_holds_only_if_the_whole_interval_satisfies_it(
    kind: str, limit: int, change: tuple[float, float], outcome: Outcome
) -> None:
    percent, error = change
    base, value = 100.0, 100.0 + percent
    ratio = RatioChange(percent, error, 20)
    spread = Spread(error**2, 20, Component.TIME, 21)
    comparison = Comparison(base, value, RatioChange(percent, error, 20), ratio, spread, 100)
    judgement = judge(comparison, Margin(2.0, 0.0), Direction.LOWER, 0.95)
    assert decide_rule(kind, limit, JudgedChange(judgement, Margin(2.0, 0.0))) is outcome
