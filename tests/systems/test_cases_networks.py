"""Network runs with files of another form: cases under golden/cases/networks/."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import run_assay
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
UNRECOGNISED = "none of the 8 log lines of 1 host is an event that the specs know"


def test_networks_log_of_another_form_is_a_warning(tmp_path: Path, cache: Path) -> None:
    options = ("--run", f"run={PLAIN}", "--to", "md", "-o", tmp_path / "out", "--cache", cache)
    result = run_assay("build", "cometbft/qa", *options)
    assert (result.status, result.err) == (
        0,
        f"warning: run: {UNRECOGNISED} (source nodes), so what reads it is left out; {PLAIN_LOG}; {JSON_LOG}\n",
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


@pytest.mark.parametrize("name", ["endurance", "harness", "published", "qa", "three", "two", "upgrade"])
def test_networks_cells_have_no_undefined_number(name: str) -> None:
    """The other pinned reports are in styles of published reports, which keep the oddities of these."""
    document = json.loads((ROOT / "golden" / "reports" / f"{name}.document.json").read_text(encoding="utf-8"))
    cells = [cell for table in _list_tables(document) for row in table["rows"] for cell in row]
    assert len(cells) > 20
    assert [cell for cell in cells if re.fullmatch(r"(?i)nan|-?\d+\.|-0(\.0*)?", cell)] == []


def _list_tables(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [*document["sections"], *(table for gallery in document["galleries"] for table in gallery["tables"])]
