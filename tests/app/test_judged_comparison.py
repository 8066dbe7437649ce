"""A comparison with a `judgement`: the judgements of the demo's runs in its results, and its gate."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from assay.app.compute.computation import Computation
from assay.app.compute.compute import compute
from assay.app.compute.report_metrics import list_report_metrics
from assay.app.judge.judging import measure_version
from assay.app.session import filters
from assay.app.session.session import Session
from assay.engine.result_cache import Store
from assay.lang.checked_package import CheckedPackage
from assay.lang.workspace import Workspace
from assay.plan.request import Request
from assay.runs.model import NamedRun
from tests.compare_reference import CARDANO
from tests.support.commands import CommandResult, run_assay
from tests.support.documentation import list_members, parse_page
from tests.support.laboratory import ROOT
from tests.support.workspaces import Edit, copy_workspace

REPORTS = "specs/cardano/reports.dhall"
UNJUDGED: Edit = (
    REPORTS,
    "judgement = Some S.Judgement::{ gate = R.metricIds [ machine.cpu, forging.announceCum, propagation.eighty ] }",
    "judgement = None S.Judgement.Type",
)
RUNS = (("10.5", CARDANO / "baseline" / "run"), ("10.6", CARDANO / "candidate" / "run"))
"""The runs of the demo."""
SUMMARIES = ("published", "mean-of-hosts")


@pytest.fixture(scope="module")
def judged_build(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Return the folder of the demo's comparison."""
    folder = tmp_path_factory.mktemp("judged") / "build"
    options = [*(f"--run={name}={place}" for name, place in RUNS), "--to=md", "--details=cdfForgerTicked"]
    result = run_assay("build", "cardano/comparison", *options, "-o", folder, "--cache", cache)
    assert result.status == 0, result.err
    return folder


def load_results(build: Path) -> Mapping[str, Any]:
    loaded: Mapping[str, Any] = json.loads((build / "results.json").read_text(encoding="utf-8"))
    return loaded


@pytest.mark.parametrize(
    ("metric", "verdict", "percent", "low", "high", "decided_by", "batches", "units"),
    [
        ("CentiCpu", "worse", 30.8, 12.3, 52.4, "time", 63, 1200),
        ("Alloc", "same", -0.1, -0.3, 0.1, "time", 63, 1200),
        ("cdfForgerTicked", "worse", 31.7, 6.0, 63.5, "time", 7, 56),
        ("cdfForgerAnnounceCum", "worse", 30.9, 8.6, 57.8, "time", 7, 56),
        ("cdfPeerFetch", "cannot tell", -4.3, -37.6, 46.9, "time and hosts", 17, 56),
        ("cdfPeerAdoption", "worse", 27.7, 13.0, 44.2, "time", 7, 56),
        ("cdf0.80", "worse", 14.5, 8.0, 21.4, "time", 17, 56),
    ],
)
def test_results_judge_the_metrics_of_the_demo(
    judged_build: Path,
    metric: str,
    verdict: str,
    percent: float,
    low: float,
    high: float,
    decided_by: str,
    batches: int,
    units: int,
) -> None:
    item = load_results(judged_build)["judgement"]["metrics"][metric]["10.6"]
    assert (item["verdict"], item["decided_by"], item["batches"], item["units"]) == (
        verdict, decided_by, batches, units,
    )  # fmt: skip
    assert [round(item[name], 1) for name in ("percent", "low", "high")] == [percent, low, high]
    assert item["margin"] == {"percent": 2.0, "amount": 0.0, "least": 2.0}


@pytest.mark.parametrize(
    ("metric", "reason"),
    [
        ("cdfBlocksPerHost", "its rows have no time"),
    ],
)
def test_metric_that_is_not_judged_has_a_reason(judged_build: Path, metric: str, reason: str) -> None:
    item = load_results(judged_build)["judgement"]["metrics"][metric]["10.6"]
    assert (item["verdict"], item["reason"], item["percent"], item["p"]) == ("no interval", reason, None, None)


def test_change_is_that_of_the_averages(judged_build: Path) -> None:
    results = load_results(judged_build)
    for name, judged in results["judgement"]["metrics"].items():
        before, after = (results["metrics"][name]["runs"][run]["average"] for run in ("10.5", "10.6"))
        if judged["10.6"]["difference"] is not None:
            assert judged["10.6"]["difference"] == pytest.approx(after - before, rel=1e-6, abs=1e-9 * abs(before)), name


@pytest.fixture(scope="module")
def computed(cache: Path) -> tuple[CheckedPackage, Computation]:
    """Return the computation of the demo's runs, with cells."""
    session = Session(Workspace(ROOT), Store(cache))
    checked, report = session.find_report_of_runs("cardano/comparison")
    metrics = list_report_metrics(checked, report)
    applied_filters = filters.parse_filters(checked.package, report, (), False)
    runs = [NamedRun(name, place) for name, place in RUNS]
    return checked, compute(session, checked, runs, Request(metrics, judged=metrics), applied_filters)


@pytest.mark.parametrize("summary", SUMMARIES)
def test_judged_average_is_the_printed_one(computed: tuple[CheckedPackage, Computation], summary: str) -> None:
    checked, computation = computed
    count = 0
    for run in computation.runs:
        for name, distribution in run.results.metrics.items():
            metric = checked.get_metric(name)
            version = measure_version(checked, metric, [run.results], summary)
            if version.runs:
                average = float(version.mean)
                assert average == pytest.approx(distribution.averages[summary], rel=1e-9, abs=1e-12), name
                count += 1
    assert count > 90


def test_report_without_judgement_has_no_cells(cache: Path, tmp_path: Path) -> None:
    workspace, build = copy_workspace(tmp_path / "workspace", UNJUDGED), tmp_path / "build"
    run_options = [f"--run={name}={place}" for name, place in RUNS]
    command = ("build", "cardano/comparison", *run_options, "--to", "md", "-o", build, "--cache", cache)
    result = run_assay(*command, cwd=workspace)
    assert result.status == 0, result.err
    assert "judgement" not in load_results(build)
    assert not list((build / "sql" / "rows").glob("cells-*"))
    assert "Verdict" not in (build / "report.md").read_text(encoding="utf-8")
    answer = run_assay("gate", build)
    assert answer.status == 1
    assert "error[no-judgement]" in answer.err


def test_cells_have_their_sql_in_the_build(judged_build: Path) -> None:
    text = (judged_build / "sql" / "rows" / "cells-slot-per-host.sql").read_text(encoding="utf-8")
    assert "INT128" in text


GATE = """\
10.6 against 10.5: 3 of 3 gated metrics are worse by more than their margin
  0.80 adoption            200 → 229 ms    +14 %  (+8 … +21)   margin 2 %  worse  Holm p 0.001
  Process CPU usage        7.53 → 9.86 %   +31 %  (+12 … +52)  margin 2 %  worse  Holm p 0.002
  Slot start to announced  31.3 → 41.0 ms  +31 %  (+9 … +58)   margin 2 %  worse  Holm p 0.009
Slot start to announced +9.7 ms (31.3 → 41.0 ms, worse): 87 % of it is Ledger ticking (26.6 → 35.0 ms, worse, \
by itself).
0.80 adoption +29 ms (200 → 229 ms, worse): no single step explains it; 48 % of it is Fetched to adopted, in rows that \
have all steps.
worse, but not in the gate: Acquired ledger view +48 % (+33 … +65), Leadership check duration +35 % (+19 … +53), \
Notice to fetch request +24 % (+18 … +29) and 10 more
Data: no findings.
Intervals hold what varies within these runs (batches of time, hosts). How much a run differs from the next is not \
known: there are too few repeats.
"""

TOO_FEW = """\
error[too-few-repeats]: the gate does not decide: too few runs show how much runs of one version differ
  expected: 3 runs of each version, or 3 calibration runs
  found:    1, 1 runs, 0 calibration runs
  hint: `--once` decides by what varies within the runs, `--baseline median:5` by recorded runs
"""


def test_gate_of_the_demo_is_closed(judged_build: Path) -> None:
    assert run_assay("gate", judged_build, "--once") == CommandResult(4, GATE, "")


def test_plan_has_the_time_of_the_runs(judged_build: Path) -> None:
    answer = run_assay("plan", judged_build)
    assert "runs of each version to see 5 % in 80 of 100 cases: 40 runs of 20 min take 13 h.\n" in answer.out


def test_gate_without_repeats_does_not_decide(judged_build: Path) -> None:
    assert run_assay("gate", judged_build) == CommandResult(1, "", TOO_FEW)


def test_gate_as_json_names_the_metrics(judged_build: Path) -> None:
    answer = run_assay("gate", judged_build, "--once", "--format", "json")
    data = answer.parse_json()
    assert (answer.status, data["is_open"], data["has_repeats"]) == (4, False, False)
    assert [item["metric"] for item in data["runs"][0]["changes"]] == ["cdf0.80", "CentiCpu", "cdfForgerAnnounceCum"]


def test_comparison_in_the_terminal_has_the_same_judgements(judged_build: Path, cache: Path) -> None:
    results = load_results(judged_build)
    runs = [f"{name}={place}" for name, place in RUNS]
    data = run_assay("--cache", cache, "compare", *runs, "--format", "json").parse_json()
    listed = [name for section in results["judgement"]["sections"] for name in section["metrics"]]
    assert [item["metric"] for item in data["changes"]] == listed
    for item in data["changes"]:
        judged = results["judgement"]["metrics"][item["metric"]]["10.6"]
        members = ("verdict", "reason", "percent", "low", "high")
        assert [item[name] for name in members] == [judged[name] for name in members]
        averages = [results["metrics"][item["metric"]]["runs"][run]["average"] for run in ("10.5", "10.6")]
        assert [item["base_value"], item["value"]] == pytest.approx(averages, rel=1e-9)


def list_documented_members() -> set[str]:
    """Return the members of judgements that docs/results.md lists."""
    sections = ("Judgements in results.json", "Quantiles in results.json")
    rows = [row for table in parse_page("docs/results.md").tables if table.section in sections for row in table.rows]
    return {name for row in rows for name in list_members(row[0])}


def test_documented_members_are_those_of_the_build(judged_build: Path) -> None:
    judgement = load_results(judged_build)["judgement"]
    item = judgement["metrics"]["cdfForgerTicked"]["10.6"]
    members = {f"judgement.{name}" for name in judgement}
    members |= {f"judgement.repeats.{name}" for name in judgement["repeats"]}
    members |= {f"judgement.metrics.*.*.margin.{name}" for name in item["margin"]}
    members |= {f"judgement.metrics.*.*.quantiles[].{name}" for quantile in item["quantiles"] for name in quantile}
    every = [change for changes in judgement["metrics"].values() for change in changes.values()]
    members |= {f"judgement.metrics.*.*.{name}" for change in every for name in change if name != "paired"}
    members |= {
        f"judgement.metrics.*.*.tails[].{name}" for change in every for tail in change["tails"] for name in tail
    }
    members |= {f"judgement.sections[].{name}" for name in judgement["sections"][0]}
    assert list_documented_members() == members | {
        "judgement.causes.*",
        "judgement.cautions.*",
        "judgement.hosts.*",
    } | {
        "judgement",
        "judgement.metrics.*",
        "judgement.metrics.*.*",
    }


def test_judgements_are_the_same_when_built_again(judged_build: Path, cache: Path) -> None:
    answer = run_assay("verify", judged_build, "--cache", cache)
    assert answer.status == 0, answer.out


def test_phases_are_judged_against_the_first_phase(cache: Path, tmp_path: Path) -> None:
    phases = ("--phase=early=..half", "--phase=late=half..", "--at=half=2026-02-05T19:02:00Z")
    run = f"--run=10.5={CARDANO / 'baseline' / 'run'}"
    command = ("build", "cardano/comparison", run, *phases, "--to", "md", "-o", tmp_path, "--cache", cache)
    answer = run_assay(*command)
    assert answer.status == 0, answer.err
    judgement = load_results(tmp_path)["judgement"]
    item = judgement["metrics"]["CentiCpu"]["10.5:late"]
    assert (item["verdict"], item["units"] < 700, judgement["repeats"]["runs"]) == ("cannot tell", True, [1, 1])
    assert (tmp_path / "sql" / "phases" / "rows" / "cells-slot-per-host.sql").is_file()


def test_number_of_hosts_may_be_the_cause(cache: Path, tmp_path: Path) -> None:
    runs = [f"--run={name}={CARDANO / name / 'run'}" for name in ("baseline", "forks")]
    answer = run_assay("build", "cardano/comparison", *runs, "--to=md", "-o", tmp_path, "--cache", cache)
    assert answer.status == 0, answer.err
    (page,) = json.loads((tmp_path / "document.json").read_text(encoding="utf-8"))["answers"]
    assert page["caution"].startswith("The comparison itself is suspect. The number of hosts (6, 8) differs between")


def test_single_run_has_no_judgement(cache: Path, tmp_path: Path) -> None:
    run = f"--run=10.5={CARDANO / 'baseline' / 'run'}"
    answer = run_assay("build", "cardano/comparison", run, "--to", "md", "-o", tmp_path, "--cache", cache)
    assert answer.status == 0, answer.err
    assert "judgement" not in load_results(tmp_path)


def read_table(build: Path, section: str) -> dict[str, list[str]]:
    """Return the rows of a table of the Markdown report, without marks of emphasis and links, by their labels."""
    text = (build / "report.md").read_text(encoding="utf-8").partition(f">{section}\n")[2].partition("\n## ")[0]
    rows = [line.strip("| ").replace("**", "").split(" | ") for line in text.splitlines() if line.startswith("| [")]
    return {row[0].partition("]")[0].removeprefix("["): row[1:7] for row in rows}


@pytest.mark.parametrize(
    ("section", "label", "cells"),
    [
        ("Forging", "Acquired ledger view, µs", ["29.4", "43.6", "+14.2", "+48", "+33 … +65", "▲ worse"]),
        ("Resource Usage", "RTS alloc rate, MiB/s", ["120", "120", "-0.093", "-0.078", "-0.3 … +0.1", "same"]),
        ("Resource Usage", "RTS heap size, GiB", ["6.45", "6.45", "0", "0", "exact", "same"]),
    ],
)
def test_tables_print_intervals_and_verdicts(judged_build: Path, section: str, label: str, cells: list[str]) -> None:
    assert read_table(judged_build, section)[label] == cells


def test_notes_name_what_is_not_judged(judged_build: Path) -> None:
    text = (judged_build / "report.md").read_text(encoding="utf-8")
    assert "No interval: Blocks per host, Chained to forged blocks (its rows have no time)." in text
    assert "56 units of time are few: 7 to 17 batches." in text
    assert "there are too few repeats" in text


def test_verdict_leads_to_its_batches(judged_build: Path, cache: Path) -> None:
    answer = run_assay(
        "trace", judged_build, "Forging/cdfForgerTicked/10.6 Verdict", "--cache", cache, "--format", "json"
    )
    assert answer.status == 0, answer.err
    judgement = answer.parse_json()["judgement"]
    recorded = load_results(judged_build)
    assert judgement["change"] == recorded["judgement"]["metrics"]["cdfForgerTicked"]["10.6"]
    assert (judged_build / judgement["file"]).is_file()
    for run, batches in judgement["batches"].items():
        size = sum(item["size"] for item in batches)
        total = sum(item["size"] * item["mean"] for item in batches)
        figures = recorded["metrics"]["cdfForgerTicked"]["runs"][run]
        assert (len(batches), size) == (7, figures["size"])
        assert total / size == pytest.approx(figures["average"], rel=1e-9)


def test_margin_is_in_the_provenance_but_in_no_definition(judged_build: Path, cache: Path, tmp_path: Path) -> None:
    margin = (REPORTS, "judgement = Some S.Judgement::{", 'judgement = Some S.Judgement::{ margin = M.percent "7",')
    workspace = copy_workspace(tmp_path / "workspace", margin, (REPORTS, "let R =", "let M = S.metric\n\nlet R ="))
    run_options = [f"--run={name}={place}" for name, place in RUNS]
    command = ("build", "cardano/comparison", *run_options, "--to", "md", "-o", tmp_path / "build", "--cache", cache)
    answer = run_assay(*command, cwd=workspace)
    assert answer.status == 0, answer.err
    one, other = (
        json.loads((folder / "provenance.json").read_text(encoding="utf-8"))["content"]
        for folder in (judged_build, tmp_path / "build")
    )
    assert one["definitions"] == other["definitions"]
    assert one["judgement"] != other["judgement"]
