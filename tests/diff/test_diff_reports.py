"""`assay diff` of what reports themselves say: prose and the values it quotes, filters, summaries, rules that judge."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Done, assay
from tests.support.laboratory import ROOT
from tests.support.repositories import committed
from tests.support.workspaces import Edit, workspace

SATURATION = "specs/cometbft/prose/saturation.md"
HARNESS = ROOT / "golden" / "antelope" / "harness"
PIVOT = "Transactions found in blocks, by rate (rows) and connections (columns)"
TPS = "specs/antelope/prose/tps.md"


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The specs as they are shipped."""
    return workspace(tmp_path_factory.mktemp("reports") / "before")


def diff(before: Path, after: Path, cache: Path, *more: str) -> Done:
    return assay("--cache", cache, "diff", before, after, *more)


def changes(before: Path, place: Path, cache: Path, *edits: Edit) -> list[dict[str, Any]]:
    """What differs, told of reports and elsewhere, of a workspace with edits; no metric does."""
    done = diff(before, workspace(place, *edits), cache, "--format", "json")
    assert (done.status, done.err) == (3, "")
    (system,) = done.json()
    assert system["metrics"] == []
    return [*(item for of in system["reports"].values() for item in of), *system["elsewhere"]]


def labels(item: dict[str, Any], kind: str) -> list[tuple[str, str]]:
    return [(place["section"], place["label"]) for place in item["touches"] if place["kind"] == kind]


def test_prose_that_is_refused_is_no_state(before: Path, cache: Path, tmp_path: Path) -> None:
    after = workspace(tmp_path / "after", (SATURATION, "{{ valid_txs(", "{{ valid_tsx("))
    for states in ((before, after), (after, before)):
        done = diff(*states, cache)
        assert (done.status, done.out) == (1, "")
        assert "error[unknown-metric]: prose quotes an unknown metric `valid_tsx`" in done.err


def test_a_changed_metric_touches_the_prose_that_quotes_it(before: Path, cache: Path, tmp_path: Path) -> None:
    edit = ("specs/cometbft/metrics.dhall", "X.column c.validTxs", "X.plus (X.column c.validTxs) (X.column c.validTxs)")
    done = diff(before, workspace(tmp_path / "after", edit), cache, "--format", "json")
    (system,) = done.json()
    (metric,) = (item for item in system["metrics"] if item["metric"] == "valid_txs")
    assert ("Saturation point", "Transactions, tx") in labels(metric, "quote")


def test_prose_of_revisions_is_read_as_it_was(before: Path, cache: Path, tmp_path: Path) -> None:
    place = tmp_path / "repository"
    shutil.copytree(before, place)
    committed(place, "first")
    text = (place / SATURATION).read_text(encoding="utf-8")
    (place / SATURATION).write_text(text.replace("{{ valid_txs(", "{{ latency_max("), encoding="utf-8")
    done = assay("--cache", cache, "diff", "HEAD", ".", within=place)
    assert done.status == 3
    assert "quoted value: Saturation point: {{ valid_txs(number = 1) }} -> {{ latency_max(number = 1) }}" in done.out


def built(place: Path, out: Path, cache: Path) -> Path:
    command = ("build", "antelope/harness", "--run", HARNESS, "--to", "md", "-o", out)
    done = assay("--cache", cache, *command, within=place)
    assert done.status == 0, done.err
    return out


def test_builds_keep_the_prose_that_they_were_made_of(before: Path, cache: Path, tmp_path: Path) -> None:
    after = workspace(tmp_path / "after", (TPS, "tps_avg(", "tps_max("))
    first, second = built(before, tmp_path / "first", cache), built(after, tmp_path / "second", cache)
    done = diff(first, second, cache)
    assert (done.status, done.err) == (3, "")
    assert "{{ tps_avg(decimals = 3) }} -> {{ tps_max(decimals = 3) }}" in done.out
    for states in ((first, before), (after, second)):
        done = diff(*states, cache)
        assert (done.status, done.out, done.err) == (0, "nothing differs\n", "")

    prose = json.loads((first / "prose.json").read_text(encoding="utf-8"))
    assert prose["prose/tps.md"] == (before / TPS).read_text(encoding="utf-8")
    (first / "prose.json").write_text(json.dumps(prose | {"prose/tps.md": "Nothing."}), encoding="utf-8")
    done = diff(first, before, cache)
    assert done.status == 3
    assert f"warning: {first / 'prose.json'}: what it holds is not the prose that the build names" in done.err
    (first / "prose.json").write_text("[]", encoding="utf-8")
    assert "error[prose]: the prose of the build is not what a build writes" in diff(first, before, cache).err
    (first / "prose.json").unlink()
    done = diff(first, second, cache)
    assert done.status == 0
    assert f"warning: {first}: no prose.json of this build stands there, so that its prose is not compared" in done.err


def test_a_summary_names_the_averages_by_it(before: Path, cache: Path, tmp_path: Path) -> None:
    edit = ("specs/cardano/summaries.dhall", "lowest = 29", "lowest = 28")
    (item,) = changes(before, tmp_path / "after", cache, edit)
    averaged = labels(item, "table")
    assert len(averaged) == len(item["touches"])
    assert ("Resource Usage", "Process CPU usage, %") in averaged
    assert all(section != "Forging" for section, _ in averaged)  # one distribution over all hosts
    (item,) = changes(
        before, tmp_path / "other", cache, (edit[0], "reciprocalPoints = True", "reciprocalPoints = False")
    )
    assert {place["kind"] for place in item["touches"]} == {"chart"}


def test_a_filter_of_a_report_names_the_cells_it_decides_on(before: Path, cache: Path, tmp_path: Path) -> None:
    edit = ("specs/cardano/reports.dhall", "[ R.uses filters.unitary ]", "[] : List R.FilterUse")
    (item,) = changes(before, tmp_path / "after", cache, edit)
    assert item["place"] == "filters / unitary"
    decided = labels(item, "table")
    assert ("End-to-end propagation", "0.50 adoption, s") in decided
    assert all(section != "Resource Usage" for section, _ in decided)


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (("specs/antelope/upgrade.dhall", "notWorse metric.cpuUsage 10", "notWorse metric.cpuUsage 20"),
         {("verdict", "Conclusion/What was expected of the upgrade", "CPU usage, %")}),
        (("specs/cometbft/audit.dhall", "tolerance = 10", "tolerance = 20"),
         {("table", f"Saturation/{PIVOT}", label) for label in ("Transactions, tx", "Expected, tx")}),
        (("specs/cometbft/articles.dhall", "let tolerance = 10", "let tolerance = 20"), {
            *(("table", f"Saturation point/{PIVOT}", label) for label in ("Transactions, tx", "Expected, tx")),
            *(("verdict", f"Results/{title}", label)
              for title in ("Experiments beside those of the baseline",
                            "The chosen experiment beside the baseline's",
                            "The overloaded experiment beside the baseline's",
                            "The experiment with a fault beside the baseline's")
              for label in ("Average latency, s", "Greatest latency, s", "Throughput, tx/s", "Transactions, tx")),
        }),
    ],
)  # fmt: skip
def test_a_rule_names_what_it_judges(
    before: Path, cache: Path, tmp_path: Path, edit: Edit, expected: set[tuple[str, str, str]]
) -> None:
    result = [
        item for item in changes(before, tmp_path / "after", cache, edit) if not item["place"].startswith("choices")
    ]
    touched = {(place["kind"], place["section"], place["label"]) for item in result for place in item["touches"]}
    assert touched == expected


CHOSEN = ', absent = "no experiment without a fault that is {}saturated"\n          , without = [ fault.name ]'


def test_a_choice_names_what_shows_its_rows(before: Path, cache: Path, tmp_path: Path) -> None:
    """Tables, verdicts, averages and figures over its time, and those of choices that leave its row out."""
    path = "specs/cometbft/articles.dhall"
    overloaded = (path, CHOSEN.format(""), CHOSEN.format("").replace("[ fault.name ]", "[] : List Text"))
    (item,) = changes(before, tmp_path / "overload", cache, overloaded)
    assert item["place"] == "choices / overload / without"
    verdict = "Results/The overloaded experiment beside the baseline's"
    judged = ("Average latency, s", "Greatest latency, s", "Throughput, tx/s", "Transactions, tx")
    assert labels(item, "verdict") == [(verdict, label) for label in judged]
    assert {section for section, _ in labels(item, "figure")} == {"Overload"}
    (item,) = changes(before, tmp_path / "fault", cache, (path, "constant.fault ]", "constant.overload ]"))
    assert item["place"] == "choices / fault / pins / #1 / constant"
    sections = {section for section, _ in labels(item, "verdict")}
    assert {"Results/The experiment with a fault beside the baseline's", verdict} <= sections
    (item,) = changes(before, tmp_path / "words", cache, (path, '"Overloaded experiment"', '"The overloaded one"'))
    assert item["touches"] == []
