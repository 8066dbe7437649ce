"""Network runs with files of another form: cases under golden/cases/networks/."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import run_assay
from tests.support.documents import list_sections
from tests.support.laboratory import ROOT

CASES = ROOT / "golden" / "cases" / "networks"
PLAIN = CASES / "6-plain-log" / "run"
PLAIN_LOG = (
    "source `nodes` finds no JSON object in logs/validator0.log:1: "
    "I[2026-11-21|03:19:37.625] Started node                                 module=main"
)
JSON_LOG = (
    'source `nodes` reads a JSON object a line: Logs of the nodes, as JSON lines: `log_format = "json"` in config.toml'
)
SET_BACK = "a clock was set back or is ahead of others, or -1 stands for a missing value"
UNRECOGNISED = "none of the 8 log lines of 1 host is an event that the specs know"


def test_networks_log_of_another_form_is_a_warning(tmp_path: Path, cache: Path) -> None:
    options = ("--run", f"run={PLAIN}", "--to", "md", "-o", tmp_path / "out", "--cache", cache)
    result = run_assay("build", "cometbft/qa", *options)
    assert (result.status, result.err) == (
        0,
        f"warning: run: {UNRECOGNISED} (source nodes), so what reads it is left out; {PLAIN_LOG}; {JSON_LOG}\n"
        'warning: Run run has no records of source nodes (logs of the nodes, as JSON lines: `log_format = "json"` in '
        "config.toml), so tables of metrics leave out: Block interval, Catching up, Errors.\n"
        "warning: Run run has no records of source samples (samples of the nodes' metrics, from a Prometheus "
        "server), so tables of metrics leave out: Average block rate, Average mempool size, Maximum resident memory, "
        "Average load.\n"
        "warning: run: 2 findings on incomplete data, under Data quality.\n"
        f"warning: run: 5 of 29 samples are negative (latency, run_latency): {SET_BACK}.\n"
        f"warning: run: 1 of 1 samples is negative (latency_min): {SET_BACK}.\n",
    )
    report = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "Run run has no records of source nodes (logs of the nodes, " in report
    assert "| 50 | 29 \\* |" in report


def test_query_of_a_log_of_another_form_is_an_error(cache: Path) -> None:
    result = run_assay("query", "node_blocks_committed", "--run", f"run={PLAIN}", "--cache", cache)
    assert (result.status, result.err) == (
        1,
        f"error[nothing-recognised]: run run: {UNRECOGNISED}\n"
        f"  note: {PLAIN_LOG}\n"
        f"  note: {JSON_LOG}\n"
        "  hint: are these logs of this system? list the known names with `assay list events`\n",
    )


def test_article_of_nothing_but_other_logs_is_an_error(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "run" / "logs").mkdir(parents=True)
    text = (PLAIN / "logs" / "validator0.log").read_text(encoding="utf-8")
    (tmp_path / "run" / "logs" / "validator0.log").write_text(text, encoding="utf-8")
    options = ("--run", f"run={tmp_path / 'run'}", "--to", "md", "-o", tmp_path / "out", "--cache", cache)
    result = run_assay("build", "cometbft/qa", *options)
    assert result.status == 1
    assert result.err.startswith(f"error[nothing-recognised]: run run: {UNRECOGNISED}\n")


@pytest.mark.parametrize(
    ("report", "group", "expected"),
    [
        ("testnets", "200-node:", ["fail", "fail"]),
        ("qa", "", ["no baseline"] * 4),
    ],
)
def test_run_of_a_case_is_compared_or_named(
    report: str, group: str, expected: list[str], tmp_path: Path, cache: Path
) -> None:
    """The slow run has vote extensions: without a grid for them it is like all others, else only the grid shows it."""
    runs = [f"--run={group}{name}={CASES / '20-case-in-a-group' / name}" for name in ("base", "slow")]
    result = run_assay("build", f"cometbft/{report}", *runs, "--to", "md", "-o", tmp_path / "out", "--cache", cache)
    assert result.status == 0
    document = json.loads((tmp_path / "out" / "document.json").read_text(encoding="utf-8"))
    rows = next(table["rows"] for table in _list_tables(document) if "Result" in table["header"])
    decided = [row for row in rows if row[3] != "N/A"]
    assert [row[3] for row in decided] == expected
    reason = "slow (8 bytes) is a case of vote_extensions, which only grids show"
    assert {row[4] == reason for row in decided} == {not group}


@pytest.mark.parametrize("name", ["endurance", "harness", "published", "qa", "three", "two", "upgrade"])
def test_networks_cells_have_no_undefined_number(name: str) -> None:
    """The other pinned reports are in styles of published reports, which keep the oddities of these."""
    document = json.loads((ROOT / "golden" / "reports" / f"{name}.document.json").read_text(encoding="utf-8"))
    cells = [cell for table in _list_tables(document) for row in table["rows"] for cell in row]
    assert len(cells) > 20
    assert [cell for cell in cells if re.fullmatch(r"(?i)nan|-?\d+\.|-0(\.0*)?", cell)] == []


def _list_tables(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [*list_sections(document), *(table for gallery in document["parts"] for table in gallery["tables"])]
