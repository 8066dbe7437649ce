"""Test reports on groups of runs: the QA report on several testnets, and an article of phases in groups."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.compare_reference import load_json
from tests.support.commands import CommandResult, run_assay
from tests.support.laboratory import ROOT
from tests.support.loads import Experiment, add_samples, create_load_run
from tests.support.workspaces import copy_workspace, edit_file

SECOND = 10**9
HEIGHTS = {"cometbft_consensus_height": {"ephemeral0": [(second, str(second)) for second in range(0, 60, 5)]}}
ROTATING = "specs/cometbft/prose/testnets_rotating.md"
PASSED = "0 of 4 values worse by more than 10 %"
FAILED = "3 of 4 values worse by more than 10 %"
NO_EXTENSIONS = ["Vote extensions", "—", "—", "N/A", "there is no run of group extensions"]
VERDICT = "Experiments compared with the baseline: v0.38"
DAY = "2026-01-01"


@pytest.fixture
def runs(tmp_path: Path) -> Mapping[str, Path]:
    """Return the runs of two testnets, by group and label. The latencies of the second are another, and get worse."""
    names = {
        "200-node:v0.37": ("0.37", "aaa", SECOND),
        "200-node:v0.38": ("0.38", "bbb", SECOND),
        "rotating:v0.37": ("0.37", "aaa", 2 * SECOND),
        "rotating:v0.38": ("0.38", "ccc", 3 * SECOND),
    }
    return {
        name: add_samples(
            create_load_run(
                tmp_path / "runs" / name.replace(":", "-"),
                Experiment("a", 100, latency=latency),
                ident=ident,
                commit=commit,
            ),
            HEIGHTS,
        )
        for name, (ident, commit, latency) in names.items()
    }


def build(out: Path, cache: Path, runs: Mapping[str, Path], *options: str | Path, cwd: Path = ROOT) -> CommandResult:
    places = [text for name, run in runs.items() for text in ("--run", f"{name}={run}")]
    return run_assay("build", "cometbft/testnets", *places, *options, "-o", out, "--cache", cache, cwd=cwd)


def select(runs: Mapping[str, Path], group: str) -> dict[str, Path]:
    return {name: run for name, run in runs.items() if name.startswith(f"{group}:")}


def list_titles(out: Path) -> list[str]:
    return [part["title"] for part in load_json(out / "document.json")["parts"]]


def find_part(out: Path, title: str) -> Any:
    return next(item for item in load_json(out / "document.json")["parts"] if item["title"] == title)


def find_scenarios(out: Path) -> list[list[str]]:
    rows: list[list[str]] = find_part(out, "Results")["tables"][0]["rows"]
    return rows


def test_each_testnet_is_beside_its_own_baseline(tmp_path: Path, cache: Path, runs: Mapping[str, Path]) -> None:
    built = build(tmp_path / "out", cache, runs, "--to", "md")
    assert built.status == 0, built.err
    assert find_scenarios(tmp_path / "out") == [
        ["200 nodes: every configuration", DAY, "v0.38 (bbb)", "pass", PASSED],
        ["200 nodes: chosen experiment", DAY, "v0.38 (bbb)", "pass", PASSED],
        ["Rotating nodes", DAY, "v0.38 (ccc)", "fail", FAILED],
        NO_EXTENSIONS,
    ]
    tables = {table["title"]: table for table in find_part(tmp_path / "out", "Results")["tables"]}
    assert [row[3:5] for row in tables[f"200-node testnet: {VERDICT}"]["rows"]][2] == ["1.00", "1.00"]
    assert [row[3:5] for row in tables[f"Rotating-node testnet: {VERDICT}"]["rows"]][2] == ["2.00", "3.00"]


def test_parts_show_the_runs_of_their_group(tmp_path: Path, cache: Path, runs: Mapping[str, Path]) -> None:
    out = tmp_path / "out"
    build(out, cache, runs, "--to", "md")
    results, document = load_json(out / "results.json"), load_json(out / "document.json")
    members = ("name", "title", "runs")
    assert [{name: group[name] for name in members} for group in results["groups"]] == [
        {"name": "200-node", "title": "200-node testnet", "runs": ["200-node:v0.37", "200-node:v0.38"]},
        {"name": "rotating", "title": "Rotating-node testnet", "runs": ["rotating:v0.37", "rotating:v0.38"]},
        {"name": "extensions", "title": "Vote-extension testbed", "runs": []},
    ]
    # Only the testnet with rotating nodes has the transactions of the whole run, and the other each experiment's.
    drawn = {run: {name.split()[1] for name in rows} for run, rows in results["rows"].items()}
    transactions = {"transaction", "run_transaction"}
    assert drawn["rotating:v0.38"] & transactions == {"run_transaction"}
    assert drawn["200-node:v0.38"] & transactions == {"transaction"}
    assert document["manifest"]["header"] == [
        "",
        "200-node: v0.37",
        "200-node: v0.38",
        "rotating: v0.37",
        "rotating: v0.38",
    ]
    figures = [plot["figure"] for part in document["parts"] for plot in part["plots"] if plot]
    assert figures == list(range(1, len(figures) + 1))
    heights = find_part(out, "Rotating-node testnet: Rotating nodes")["plots"][:2]
    assert [plot["title"].rpartition(": ")[2] for plot in heights] == ["v0.37", "v0.38"]


def test_group_without_runs_is_left_out_with_a_word(tmp_path: Path, cache: Path, runs: Mapping[str, Path]) -> None:
    out = tmp_path / "out"
    built = build(out, cache, select(runs, "rotating"), "--to", "md")
    left_out = [
        f"There is no run of group {name}. Its parts are left out: {'; '.join(f'{title}: {part}' for part in parts)}."
        for name, title, parts in (
            (
                "200-node",
                "200-node testnet",
                (
                    "Saturation point",
                    "Latencies",
                    "Metrics of the nodes",
                    "Overload",
                    "Fault",
                    "Logs of the nodes",
                    "Averages",
                ),
            ),
            ("extensions", "Vote-extension testbed", ("Vote extensions",)),
        )
    ]
    assert built.status == 0
    assert [f"warning: {text}" for text in left_out] == built.err.splitlines()[:2]
    assert load_json(out / "document.json")["warnings"][:2] == left_out
    assert [title.partition(":")[0] for title in list_titles(out)] == ["Rotating-node testnet"] * 3 + ["Results"]
    reason = "there is no run of group 200-node"
    assert find_scenarios(out) == [
        ["200 nodes: every configuration", "—", "—", "N/A", reason],
        ["200 nodes: chosen experiment", "—", "—", "N/A", reason],
        ["Rotating nodes", DAY, "v0.38 (ccc)", "fail", FAILED],
        NO_EXTENSIONS,
    ]


def test_scenario_that_is_not_judged_has_a_row_per_version(tmp_path: Path, cache: Path) -> None:
    cases = {
        f"extensions:{case}": create_load_run(
            tmp_path / case, Experiment("a", 100), ident="0.38", commit="ddd", vote_extensions=case
        )
        for case in ("0k", "2k")
    }
    assert build(tmp_path / "out", cache, cases, "--to", "md").status == 0
    assert find_scenarios(tmp_path / "out")[-1:] == [["Vote extensions", DAY, "0.38 (ddd)", "N/A", "not judged"]]
    table = find_part(tmp_path / "out", "Vote-extension testbed: Vote extensions")["tables"][0]
    assert [row[0] for row in table["rows"]] == ["0k", "2k"]


def test_group_alone_has_no_baseline(tmp_path: Path, cache: Path, runs: Mapping[str, Path]) -> None:
    """The runs of another group are not its baseline."""
    names = ("200-node:v0.38", "rotating:v0.38")
    build(tmp_path / "out", cache, {name: runs[name] for name in names}, "--to", "md")
    rows = [row[2:4] for row in find_scenarios(tmp_path / "out")]
    assert rows == [["v0.38 (bbb)", "no baseline"]] * 2 + [["v0.38 (ccc)", "no baseline"], ["—", "N/A"]]


def test_records_that_a_group_lacks_are_missed_there(tmp_path: Path, cache: Path, runs: Mapping[str, Path]) -> None:
    for run in select(runs, "200-node").values():
        (run / "samples.om").unlink()
    out = tmp_path / "out"
    built = build(out, cache, runs, "--to", "md")
    assert built.status == 0, built.err
    note = "Runs 200-node:v0.37, 200-node:v0.38 have no records of source samples"
    noted = [part["title"] for part in load_json(out / "document.json")["parts"] if note in " ".join(part["text"])]
    assert noted == [f"200-node testnet: {part}" for part in ("Metrics of the nodes", "Overload", "Fault", "Averages")]
    assert [plot for plot in find_part(out, "Rotating-node testnet: Rotating nodes")["plots"] if plot]


def test_group_with_nothing_to_show_is_named(tmp_path: Path, cache: Path, runs: Mapping[str, Path]) -> None:
    for run in select(runs, "rotating").values():
        shutil.rmtree(run / "report")
    built = build(tmp_path / "out", cache, runs, "--to", "md")
    assert built.status == 1
    assert "error[no-source]: report `testnets` has nothing to show of group `rotating`" in built.err


def test_verify_and_trace_know_groups(tmp_path: Path, cache: Path, runs: Mapping[str, Path]) -> None:
    out = tmp_path / "out"
    build(out, cache, runs, "--to", "md", "--to", "html")
    assert run_assay("verify", out, "--cache", cache).out.endswith("all the same bytes\n")
    listed = run_assay("trace", out, "--list", "--format", "csv", "--cache", cache).out
    cells = [row[0] for row in list(csv.reader(listed.splitlines()))[1:]]
    assert len(cells) == len(set(cells))
    cell = f"Results/Rotating-node testnet: {VERDICT}/1, 50, Average latency, s/v0.38"
    traced = run_assay("trace", out, cell, "--cache", cache)
    assert "rotating: v0.38 (rotating:v0.38)" in traced.out
    assert "report/raw.csv:2" in traced.out
    moved = shutil.move(runs["rotating:v0.38"], tmp_path / "moved")
    assert "no-run" in run_assay("verify", out, "--cache", cache).err
    verified = run_assay("verify", out, "--run", f"rotating:v0.38={moved}", "--cache", cache)
    assert verified.out.endswith("all the same bytes\n"), verified.err


def test_gate_decides_on_a_group(tmp_path: Path, cache: Path, runs: Mapping[str, Path]) -> None:
    """Latencies of the second testnet are half again as long, with too few samples for an interval."""
    out, once = tmp_path / "out", ("--once", "--allow-missing")
    built = build(out, cache, runs, "--to", "md")
    assert [text.partition(":")[0] for text in built.summary.split("; ") if "testnet: " in text] == [
        "200-node testnet", "Rotating-node testnet",
    ]  # fmt: skip
    of_none = run_assay("gate", out, *once)
    assert (of_none.status, "--group with one of 200-node, rotating" in of_none.err) == (2, True)
    first, second = (run_assay("gate", out, *once, "--group", group) for group in ("200-node", "rotating"))
    assert (first.status, second.status) == (0, 1)
    assert first.out.startswith("200-node:v0.38 against 200-node:v0.37: none of 7 gated metrics is worse")
    assert "error[nothing-judged]" in second.err
    assert run_assay("gate", out, *once, "--group", "nodes").status == 2


def test_margin_is_that_of_each_group(tmp_path: Path, cache: Path, runs: Mapping[str, Path]) -> None:
    out = tmp_path / "out"
    assert build(out, cache, runs, "--to", "md", "--margin", "60%").status == 0
    groups = load_json(out / "results.json")["groups"]
    changes = [group["judgement"]["metrics"]["latency"] for group in groups if "judgement" in group]
    assert [change["margin"]["percent"] for item in changes for change in item.values()] == [60, 60]


def test_quotes_name_their_group(tmp_path: Path, cache: Path, runs: Mapping[str, Path]) -> None:
    workspace = copy_workspace(tmp_path / "ws")
    edit_file(
        workspace / "specs/cometbft/testnets.dhall",
        "B.ofGroup rotating [ part.rotating,",
        "B.ofGroup rotating "
        '[ part.rotating // { blocks = B.prose "prose/testnets_rotating.md" # part.rotating.blocks },',
    )
    (workspace / ROTATING).write_text("Here {{ latency_avg(number = 1, run = \"0.37\") }}, "
        'there {{ latency_avg(number = 1, group = "200-node") }}.\n', encoding="utf-8")  # fmt: skip
    out = tmp_path / "out"
    assert build(out, cache, runs, "--to", "md", cwd=workspace).status == 0
    title = "Rotating-node testnet: Rotating nodes"
    assert find_part(out, title)["text"][0] == "Here 2.00 s, there 1.00 s."
    traced = run_assay("trace", out, f"{title}/paragraph 1/1.00 s", "--cache", cache, cwd=workspace)
    assert "200-node: v0.38 (200-node:v0.38)" in traced.out
    assert build(out, cache, select(runs, "rotating"), "--to", "md", cwd=workspace).status == 0
    assert not any("there" in text for text in find_part(out, title)["text"])


def test_list_of_runs_is_relative_to_its_file(tmp_path: Path, cache: Path, runs: Mapping[str, Path]) -> None:
    lines = [f"  {name} = {run.relative_to(tmp_path)}" for name, run in runs.items()]
    (tmp_path / "runs.txt").write_text("\n".join(["# testnets of 0.38", "", *lines[:3]]) + "\n", encoding="utf-8")
    last = {"rotating:v0.38": runs["rotating:v0.38"]}
    assert build(tmp_path / "a", cache, last, "--runs", tmp_path / "runs.txt", "--to", "md").status == 0
    assert build(tmp_path / "b", cache, runs, "--to", "md").status == 0
    assert (tmp_path / "a" / "provenance.json").read_text() == (tmp_path / "b" / "provenance.json").read_text()


GROUPED = """\
let B = (../schema/package.dhall).block

let upgrade = (./upgrade.dhall).upgrade

let host = { name = "host", title = "Host" }

let machine = { name = "machine", title = "Machine" }

in      upgrade
    //  { name = "hosts"
        , groups = [ host, machine ]
        , parts = B.ofGroup host upgrade.parts # B.ofGroup machine upgrade.parts
        }
"""


def test_groups_have_phases_and_sources_of_their_own(tmp_path: Path, cache: Path) -> None:
    """One group has samples, the other records of its virtual machine; the instants of each are set apart."""
    workspace = copy_workspace(
        tmp_path / "ws", ("specs/antelope/package.dhall", ", reports = [", ", reports = [ ./hosts.dhall,")
    )
    (workspace / "specs/antelope/hosts.dhall").write_text(GROUPED, encoding="utf-8")
    machine = tmp_path / "machine"
    machine.mkdir()
    shutil.copy(ROOT / "golden/antelope/rrd/rrddata.json", machine)
    (machine / "meta.json").write_text(json.dumps({"ident": "machine"}), encoding="utf-8")
    out = tmp_path / "out"
    built = run_assay(
        "build", "antelope/hosts", "--run", f"host:one={ROOT / 'golden/antelope/upgrade/run'}",
        "--run", f"machine:one={machine}", "--at", "machine:one:upgrade=2024-01-22T20:00:00Z",
        "--at", "machine:one:second_start=2024-01-22T20:15:00Z", "--to", "html", "-o", out, "--cache", cache,
        cwd=workspace,
    )  # fmt: skip
    assert built.status == 0, built.err
    columns = {name: list(metric["runs"]) for name, metric in load_json(out / "results.json")["metrics"].items()}
    assert columns["disk_write_rate"] == ["host:one:before", "host:one:after"]
    assert columns["vm_disk_write_rate"] == ["machine:one:before", "machine:one:after", "machine:one:second start"]
    parts = {
        "Host: Disk",
        "Machine: Disk",
        "Machine: CPU of the virtual machine",
        "Host: CPU of the virtual machine",
    }
    assert parts & {*list_titles(out)} == {"Host: Disk", "Machine: CPU of the virtual machine"}
    verified = run_assay("verify", out, "--cache", cache, cwd=workspace)
    assert verified.out.endswith("all the same bytes\n"), verified.err
