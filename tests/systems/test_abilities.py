"""Test what every shipped report can do: all commands work on all reports, or refuse with the reason in the table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.commands import CommandResult, run_assay
from tests.support.laboratory import ROOT

TABLE: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "abilities.yaml").read_text(encoding="utf-8"))
REPORTS: dict[str, dict[str, Any]] = TABLE["reports"]
#: ability -> options of a second build; None for a command on the build
BUILDS: dict[str, tuple[str, ...]] = {
    "by": ("--by", "host"),
    "columns": ("--columns", "median,max"),
    "style": ("--style", "three-digits"),
    "no-filters": ("--no-filters",),
    "margin": ("--margin", "5%"),
    "page": ("--to", "html"),
    "texts": ("--texts",),
}
WORDS = "In the words of the author."
COMMANDS: dict[str, Callable[[str, Path], tuple[object, ...]]] = {
    "gate": lambda _report, out: ("gate", out, "--once", "--allow-missing", "--allow-no-interval"),
    "verify": lambda _report, out: ("verify", out),
    "draft": lambda _report, out: ("draft", out),
    "cells": lambda _report, out: ("trace", out, "--list"),
    "lineage": lambda report, _out: ("lineage", report, "--format", "json"),
    "spec-diff": lambda _report, out: ("spec-diff", out, out),
}


def list_cases() -> Iterator[tuple[str, str]]:
    return ((report, ability) for report in REPORTS for ability in (*COMMANDS, *BUILDS))


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Callable[[str], Path]:
    """Return the function that builds a report once."""
    folder = tmp_path_factory.mktemp("abilities")

    def build(report: str) -> Path:
        out = folder / report.replace("/", "-")
        if not out.exists():
            result = run_build(report, out, cache)
            assert result.status == 0, result.err
        return out

    return build


def run_build(report: str, out: Path, cache: Path, *options: str) -> CommandResult:
    runs = [text for run in TABLE["runs"][REPORTS[report]["runs"]] for text in ("--run", run)]
    options = (*REPORTS[report].get("options", ()), *options)
    form = () if "--to" in options else ("--to", "md")
    return run_assay("--cache", cache, "build", report, *runs, *options, *form, "-o", out, cwd=ROOT)


@pytest.mark.parametrize(("report", "ability"), list(list_cases()))
def test_report_does_what_the_table_says(
    report: str, ability: str, builds: Callable[[str], Path], tmp_path: Path, cache: Path
) -> None:
    if ability == "texts":
        (tmp_path / f"{REPORTS[report]['part']}.md").write_text(WORDS, encoding="utf-8")
        result = run_build(report, tmp_path / "out", cache, "--texts", str(tmp_path))
        assert WORDS in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    elif ability in BUILDS:
        result = run_build(report, tmp_path / "out", cache, *BUILDS[ability])
    else:
        result = run_assay("--cache", cache, *COMMANDS[ability](report, builds(report)), cwd=ROOT)
    code = re.search(r"^error\[([\w-]+)\]", result.err, re.M)
    assert (code[1] if code else "") == REPORTS[report].get("refused", {}).get(ability, ""), result.err


def test_table_has_every_shipped_report(cache: Path) -> None:
    listed = run_assay("--cache", cache, "list", "reports", "--format", "csv", cwd=ROOT).out
    names = {line.partition(",")[0] for line in listed.splitlines()[1:]}
    assert {name for name in names if not name.endswith("/history")} == set(REPORTS)
