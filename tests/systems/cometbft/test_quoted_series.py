"""Prose quotes series of a run: the values are those of the rows, and each leads to its samples."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from assay.plan.request import name_rows_statement
from tests.compare_reference import load_json
from tests.support.commands import CommandResult, run_assay
from tests.support.laboratory import ROOT
from tests.support.result_rows import read_result_rows
from tests.support.workspaces import copy_workspace

RUN = ROOT / "golden" / "cometbft" / "run"
PROSE = """\
In the **chosen** experiment:

- mempools of at most {{ mempool_size(statistic = "max", choice = "chosen", decimals = 0) }}, on average
  {{ mempool_size(statistic = "mean", choice = "chosen", decimals = 3) }};
- mostly between 100 and 500 tx:
  {{ mempool_size(statistic = "share between 100 and 500", choice = "chosen", decimals = 2) }}.

Of memory {{ node_memory(statistic = "max", job = "validator0", unit = "MB", decimals = 1) }} over the whole run.
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    folder = tmp_path_factory.mktemp("quoted")
    workspace = copy_workspace(folder / "workspace")
    (workspace / "specs/cometbft/prose/results.md").write_text(PROSE, encoding="utf-8")
    options = ("--run", RUN, "-o", folder / "out", "--cache", cache, "--to", "md")
    result = run_assay("build", "cometbft/qa", *options, cwd=workspace)
    assert (result.status, result.err) == (0, "")
    return folder / "out"


def trace(built: Path, cell: str, cache: Path) -> CommandResult:
    workspace = built.parent / "workspace"
    return run_assay("trace", built, cell, "--format", "json", "--cache", cache, cwd=workspace)


def find_results(built: Path) -> dict[str, Any]:
    galleries = load_json(built / "document.json")["parts"]
    return next(gallery for gallery in galleries if gallery["title"] == "Results")


def list_values(built: Path, series: str, since: int = 0, until: int = 2**63, **labels: str) -> list[dict[str, Any]]:
    rows = read_result_rows(built)[name_rows_statement(series)]
    return [row for row in rows if since <= row["t_ns"] <= until and all(row[name] == labels[name] for name in labels)]


def test_quoted_statistics_are_those_of_the_rows(built: Path) -> None:
    text, quoted = (find_results(built)[name] for name in ("text", "quoted"))
    chosen = [row["value"] for row in list_values(built, "mempool_size", quoted[0]["since"], quoted[0]["until"])]
    memory = [row["value"] for row in list_values(built, "node_memory", job="validator0")]
    share = 100 * sum(100 <= value <= 500 for value in chosen) / len(chosen)
    assert 0 < len(chosen) < len(list_values(built, "mempool_size"))
    assert [text[item["paragraph"]][item["begin"] : item["end"]] for item in quoted] == [
        f"{max(chosen):.0f} tx",
        f"{sum(chosen) / len(chosen):.3f} tx",
        f"{share:.2f} %",
        f"{max(memory) / 1e6:.1f} MB",
    ]


def test_quoted_statistics_lead_to_their_samples(built: Path, cache: Path) -> None:
    listing = run_assay("trace", built, "--cache", cache, cwd=built.parent / "workspace").out
    cells = re.findall(r"^(Results/paragraph .*): ", listing, re.MULTILINE)
    assert len(cells) == 4
    for cell in cells:
        result = trace(built, cell, cache)
        assert (result.status, result.err) == (0, "")
        (run,) = json.loads(result.out)["runs"]
        assert all(sample["records"] for sample in run["greatest"])
    assert {sample["keys"]["job"] for sample in run["greatest"]} == {"validator0"}


def test_quote_that_a_run_no_longer_yields_is_an_error(built: Path, cache: Path) -> None:
    document = built / "document.json"
    original = document.read_text(encoding="utf-8")
    changed = re.sub(r"\b\d(\d*\.\d MB)\b", r"9\1", original)
    assert changed != original
    document.write_text(changed, encoding="utf-8")
    try:
        listing = run_assay("trace", built, "--cache", cache, cwd=built.parent / "workspace").out
        cell = re.findall(r"^(Results/paragraph .* MB): ", listing, re.MULTILINE)
        result = trace(built, *cell, cache)
    finally:
        document.write_text(original, encoding="utf-8")
    assert "yields another max of `node_memory` than the report has" in result.err
