"""Test claims about published tables: CometBFT's saturation tables, and invented claims."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pypdf
import pytest

from tests.compare_reference import load_json
from tests.support.commands import CommandResult, run_assay
from tests.support.laboratory import ROOT
from tests.support.outcomes import replace_quarantine_path
from tests.support.workspaces import copy_workspace, edit_file

PUBLISHED = ROOT / "golden" / "cometbft" / "published"
LABELS = {"v034": "v0.34", "v037": "v0.37", "v038": "v0.38", "v1": "v1"}
TITLE = "Transactions in blocks, by rate (rows) and connections (columns)"
BASELINE = "The QA document of v0.38, the saturation table of the baseline, v0.37"
AUDIT = "specs/cometbft/audit.dhall"


def build_report(
    out: Path, cache: Path, *versions: str | Path, cwd: Path = ROOT, date: str = "2026-11-21"
) -> CommandResult:
    run_options = [item for version in versions for item in ("--run", version)]
    date_options = ["--date", date] if date else []
    return run_assay("build", "cometbft/published", *run_options, "-o", out, "--cache", cache, *date_options, cwd=cwd)


def list_runs(*versions: str) -> list[Path]:
    return [PUBLISHED / version for version in versions]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> tuple[Path, CommandResult]:
    out = tmp_path_factory.mktemp("published") / "out"
    return out, build_report(out, cache, *list_runs(*LABELS))


def read_cells(path: Path) -> dict[tuple[int, int], int]:
    """Return (rate, connections) -> transactions of a published file, all values of a key in order."""
    text = path.read_text(encoding="utf-8")
    matches = [map(int, re.findall(rf"{key}: (\d+)", text)) for key in ("Rate", "Connections", "Total Valid Tx")]
    return {(rate, connections): txs for rate, connections, txs in zip(*matches, strict=True)}


def describe_source(version: str) -> dict[str, str | int]:
    path = PUBLISHED / version / f"{version}_report_tabbed.txt"
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return {"file": path.name, "bytes": path.stat().st_size, "sha256": digest}


def find_table(out: Path, label: str) -> dict[tuple[int, int], int]:
    """Return the saturation table of a run in the report."""
    (section,) = (
        item
        for gallery in load_json(out / "document.json")["parts"]
        for item in gallery["tables"]
        if item["title"] == (f"{TITLE}: {label}" if label else TITLE)
    )
    return {
        (int(row[0]), int(connections)): int(cell.removesuffix(" *"))
        for row in section["rows"]
        for connections, cell in zip(section["header"][1:], row[1:], strict=True)
    }


@pytest.mark.parametrize(("version", "label"), LABELS.items())
def test_saturation_table_of_version_equals_its_file(
    built: tuple[Path, CommandResult], version: str, label: str
) -> None:
    expected = read_cells(PUBLISHED / version / f"{version}_report_tabbed.txt")
    assert len(expected) == 12
    assert find_table(built[0], label) == expected


def test_baseline_claim_has_numbers_of_another_version(
    built: tuple[Path, CommandResult],
) -> None:
    out, result = built
    first, second = load_json(out / "results.json")["claims"]
    assert (first["holds"], first["differing"], first["equal"]) == (True, 0, [])
    actual_cells = {(cell["rate"], cell["connections"]): cell for cell in first["cells"]}
    expected = read_cells(PUBLISHED / "v038" / "v038_report_tabbed.txt")
    assert {(int(rate), int(c)): int(cell["claimed"]) for (rate, c), cell in actual_cells.items()} == expected
    assert all(cell["claimed"] == cell["found"] and cell["agrees"] for cell in first["cells"])
    assert second == {
        "document": "The QA document of v0.38",
        "statement": "the saturation table of the baseline, v0.37",
        "table": TITLE,
        "metric": "reported_txs",
        "claimed_of": "v0.37",
        "run": {"id": "v037", "label": "v0.37", "files": [describe_source("v037")]},
        "cells": [
            {"rate": "100", "connections": "4", "claimed": "35600", "found": "35400", "agrees": False},
            {"rate": "200", "connections": "4", "claimed": "38660", "found": "37358", "agrees": False},
        ],
        "differing": 2,
        "holds": False,
        "equal": [
            {"id": "v034", "label": "v0.34", "files": [describe_source("v034")]}
        ],
    }  # fmt: skip
    assert load_json(out / "provenance.json")["content"]["claims"] == [first, second]
    message = f"{BASELINE}: 2 of 2 cells differ from those of v0.37. All of them agree with those of v0.34."
    assert (result.status, result.err) == (0, f"warning: {message}\n")
    assert load_json(out / "document.json")["warnings"] == [message]


def test_provenance_section_shows_the_origin_of_claims(built: tuple[Path, CommandResult]) -> None:
    text = " ".join(page.extract_text() for page in pypdf.PdfReader(built[0] / "report.pdf").pages)
    flat = re.sub(r"\s+", "", text.replace("\u200b", ""))
    after = flat[flat.rindex("Provenance") :]
    for part in (
        "The QA document of v0.38: the saturation table of v0.38",
        "All 12 cells agree with those of v0.38.",
        f"Files of v0.38: v038_report_tabbed.txt, sha256 {describe_source('v038')['sha256']}.",
        "2 of 2 cells differ from those of v0.37. All of them agree with those of v0.34.",
        f"Files of v0.37: v037_report_tabbed.txt, sha256 {describe_source('v037')['sha256']}.",
        f"Files of v0.34, whose cells all agree: v034_report_tabbed.txt, sha256 {describe_source('v034')['sha256']}.",
    ):
        assert part.replace(" ", "") in after
    rows = load_json(built[0] / "document.json")["claims"][1]
    assert rows["header"] == ["Rate", "Connections", "Document", "Found in v0.37", "Agrees", "Found in v0.34"]
    assert rows["rows"] == [
        ["100", "4", "35600", "35400", "no", "35600"],
        ["200", "4", "38660", "37358", "no", "38660"],
    ]
    metric, rate, connections = (
        "reported_txs",
        "column.reported_experiment.rate",
        "column.reported_experiment.connections",
    )
    assert rows["of_columns"] == [rate, connections, metric, metric, "", metric]
    term_ids = {entry["id"] for group in load_json(built[0] / "document.json")["terms"] for entry in group["entries"]}
    assert {rate, connections} <= term_ids


def test_report_verifies_and_changed_file_is_named(
    built: tuple[Path, CommandResult], tmp_path: Path, cache: Path
) -> None:
    result = run_assay("verify", built[0], "--cache", cache)
    assert (result.status, result.err) == (0, ""), result.out
    copied_run = shutil.copytree(PUBLISHED / "v034", tmp_path / "v034")
    edit_file(copied_run / "v034_report_tabbed.txt", "Total Valid Tx: 38660", "Total Valid Tx: 38661")
    result = run_assay("verify", built[0], "--run", f"v034={copied_run}", "--cache", cache)
    assert (result.status, result.err) == (3, "")
    first, *rest = result.out.splitlines()
    assert first.startswith("input v034/v034_report_tabbed.txt: content changed (sha256 ")
    assert "file results.json differs" in rest


def test_origin_of_numbers_is_found_by_comparison(tmp_path: Path, cache: Path) -> None:
    """Without v0.34 no run has them; with two copies of it, both do."""
    result = build_report(tmp_path / "out", cache, *list_runs("v037", "v038"))
    verdict = "2 of 2 cells differ from those of v0.37. No other run of this report has all of them."
    assert (result.status, result.err) == (0, f"warning: {BASELINE}: {verdict}\n")
    input_runs = [f"v0.37={PUBLISHED / 'v034'}", f"a={PUBLISHED / 'v034'}", f"b={PUBLISHED / 'v1'}"]
    result = build_report(tmp_path / "named", cache, *input_runs)
    claims = load_json(tmp_path / "named" / "results.json")["claims"]
    assert [(item["holds"], item["run"] and item["run"]["id"]) for item in claims] == [(False, None), (True, "v0.37")]


def test_run_is_recognized_by_content_before_name(tmp_path: Path, cache: Path) -> None:
    """A run with the name of another release does not replace that release."""
    result = build_report(tmp_path / "out", cache, f"v0.37={PUBLISHED / 'v034'}", f"b={PUBLISHED / 'v037'}")
    assert f"{BASELINE}: 2 of 2 cells differ from those of b. All of them agree with those of v0.37." in result.err
    claims = load_json(tmp_path / "out" / "results.json")["claims"]
    assert [(item["holds"], item["run"] and item["run"]["id"]) for item in claims] == [(False, None), (False, "b")]


def test_claim_of_an_absent_run_is_reported(tmp_path: Path, cache: Path) -> None:
    result = build_report(tmp_path / "out", cache, *list_runs("v034"))
    lines = result.err.splitlines()
    assert lines == [
        "warning: The QA document of v0.38, the saturation table of v0.38: No run of this report is called v0.38. "
        "No other run of this report has all of them.",
        f"warning: {BASELINE}: No run of this report is called v0.37. All of them agree with those of v0.34.",
    ]
    first, second = load_json(tmp_path / "out" / "document.json")["claims"]
    assert first["header"] == ["Rate", "Connections", "Document"]
    assert second["header"] == ["Rate", "Connections", "Document", "Found in v0.34"]


def test_printed_decimals_set_the_precision(tmp_path: Path, cache: Path) -> None:
    within = copy_workspace(tmp_path / "workspace")
    edit_file(within / AUDIT, ", metric = p.txs\n", ", metric = p.average\n")
    edit_file(within / AUDIT, "B.cell 100 4 \"35600\", B.cell 200 4 \"38660\"",
           "B.cell 25 1 \"1.451\", B.cell 25 2 \"1.4\", B.cell 25 4 \"2\", B.cell 800 1 \"1\"")  # fmt: skip
    verdicts = [
        line for line in (PUBLISHED / "v037" / "v037_report_tabbed.txt").read_text().split("\n") if "Avera" in line
    ]
    averages = [float(text) for text in re.findall(r"Latency: ([\d.]+)s", verdicts[0])]
    result = build_report(tmp_path / "out", cache, *list_runs("v037"), cwd=within)
    assert result.status == 0, result.err
    claim = load_json(tmp_path / "out" / "results.json")["claims"][1]
    expected = [round(averages[0], 3) == 1.451, round(averages[1], 1) == 1.4, round(averages[2]) == 2, False]
    assert [cell["agrees"] for cell in claim["cells"]] == expected
    assert True in expected
    assert claim["cells"][3]["found"] == "—"


# Invalid claims, runs and texts


@pytest.mark.parametrize(
    ("text", "replacement", "message"),
    [
        (
            ', B.cell 200 4 "38660" ]',
            ', B.cell 100 4 "38660" ]',
            "error[claim-cells]: duplicate cell in the claim of `The QA document of v0.38` (the saturation table of "
            "the baseline, v0.37) in report `published` (row 100, column 4)\n",
        ),
        (
            ', B.cell 200 4 "38660" ]',
            ', B.cell 200 4 "38 660" ]',
            "error[claim-value]: a cell of the claim of `The QA document of v0.38` (the saturation table of the "
            "baseline, v0.37) in report `published` is not a number (row 200, column 4)\n"
            "  expected: digits, as in 35600 or 1.5\n"
            "  found:    38 660\n",
        ),
        (
            "B.pivots [ saturation ]",
            'B.pivots [ saturation // { title = "Transactions in blocks" } ]',
            "error[claim-pivot]: unknown pivot `Transactions in blocks, by rate (rows) and connections "
            "(columns)` in the claim of `The QA document of v0.38` (the saturation table of v0.38) in report "
            "`published`\n",
        ),
    ],
)
def test_invalid_claim_is_an_error(tmp_path: Path, cache: Path, text: str, replacement: str, message: str) -> None:
    within = copy_workspace(tmp_path / "workspace")
    edit_file(within / AUDIT, text, replacement)
    result = run_assay("check", "--system", "cometbft", "--cache", cache, cwd=within)
    assert result.status == 1
    actual_message = re.sub(r"(?m)^  (at |hint|  +\d* *\|).*\n", "", result.err)
    assert message in actual_message


def test_report_without_instant_needs_a_date(tmp_path: Path, cache: Path) -> None:
    result = build_report(tmp_path / "out", cache, *list_runs("v038"), date="")
    assert (result.status, result.err) == (
        2,
        "error[no-date]: the report has no date, since no record of the runs has a time\n"
        "  hint: pass --date YYYY-MM-DD\n",
    )
    assert not (tmp_path / "out").exists()


def create_cut_run(tmp_path: Path, mark: str) -> Path:
    """Create a published run whose text ends where the last block begins."""
    run = shutil.copytree(PUBLISHED / "v038", tmp_path / "cut")
    path = run / "v038_report_tabbed.txt"
    text = path.read_text(encoding="utf-8")
    path.write_text(text[: text.rindex(mark)], encoding="utf-8")
    return run


def test_truncated_text_is_reported_and_has_no_numbers(tmp_path: Path, cache: Path) -> None:
    result = build_report(tmp_path / "out", cache, create_cut_run(tmp_path, "    Maximum Latency"))
    assert result.status == 0
    warnings = result.err.splitlines()
    assert warnings[0] == (
        "warning: v0.38: 4 broken records left out; the first is v038_report_tabbed.txt:31: "
        "field latency_max of reported is missing."
    )
    assert warnings[1].endswith(
        ": 3 of 12 cells differ from those of v0.38. No other run of this report has all of them."
    )
    assert [key[0] for key in find_table(tmp_path / "out", "")].count(1600) == 0


def test_text_with_little_left_is_refused(tmp_path: Path, cache: Path) -> None:
    run = create_cut_run(tmp_path, "    Maximum Latency")
    path = run / "v038_report_tabbed.txt"
    path.write_text(path.read_text(encoding="utf-8").split("\n", 20)[-1], encoding="utf-8")
    result = build_report(tmp_path / "out", cache, run)
    assert (result.status, replace_quarantine_path(result.err)) == (
        1,
        "error[too-many-broken-lines]: run cut: 4 of the 7 blocks are malformed\n"
        "  expected: at most 2\n"
        "  found:    4\n"
        "  note: v038_report_tabbed.txt:11, byte 1359: field latency_max of reported is missing\n"
        "  note: v038_report_tabbed.txt:11, byte 1412: field latency_max of reported is missing\n"
        "  note: v038_report_tabbed.txt:11, byte 1465: field latency_max of reported is missing\n"
        "  note: all of them, with file, line, offset, reason and text, are in QUARANTINE\n"
        "  hint: the limit is `quarantine` in the definition of the source\n",
    )


def test_report_without_claims_does_not_mention_them(tmp_path: Path, cache: Path) -> None:
    result = run_assay(
        "build", "cometbft/qa", "--run", ROOT / "golden" / "cometbft" / "run", "-o", tmp_path, "--cache", cache
    )
    assert result.status == 0, result.err
    assert "claims" not in json.loads((tmp_path / "document.json").read_text(encoding="utf-8"))
    assert "claims" not in load_json(tmp_path / "results.json")
    assert "claims" not in load_json(tmp_path / "provenance.json")["content"]


def test_tool_summary_agrees_with_transactions(tmp_path: Path, cache: Path) -> None:
    """The metrics are computed from transactions and from the tool's sums."""
    run = ROOT / "golden" / "cometbft" / "run"
    result = build_report(tmp_path / "out", cache, run)
    assert result.status == 0, result.err
    names = ("valid_txs", "latency_min", "latency_max", "latency_avg", "latency_stddev", "negative_latencies")
    query = run_assay("query", *names, "--run", run, "--format", "json", "--cache", cache)
    assert query.status == 0, query.err
    reported = run_assay("query", "reported_txs", "reported_min", "reported_max", "reported_avg", "reported_stddev",
                     "reported_negative", "--run", run, "--format", "json", "--cache", cache)  # fmt: skip
    assert reported.status == 0, reported.err
    assert [remove_metric_name(row) for row in reported.parse_json()] == [
        remove_metric_name(row) for row in query.parse_json()
    ]


def remove_metric_name(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "metric"}
