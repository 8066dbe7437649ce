"""Test that the check of edited observations catches the slips of published reports."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import run_assay
from tests.support.documentation import ROOT

PUBLISHED = ROOT / "golden" / "published"
SLIPS = tomllib.loads((Path(__file__).parent / "slips.toml").read_text(encoding="utf-8"))["slip"]


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: slip["name"])
def test_slip_of_a_published_report_is_found(slip: dict[str, Any], tmp_path: Path, cache: Path) -> None:
    prose = tmp_path / "observations.md"
    prose.write_text(slip["prose"].lstrip(), encoding="utf-8")
    names = (name.rpartition("=") for name in slip["publications"])
    places = [f"{case}{sign}{PUBLISHED / file}.json" for case, sign, file in names]
    result = run_assay("--cache", cache, "--errors", "json", "check-prose", prose, *places, cwd=ROOT)
    problems = [[item["message"], item["expected"]] for item in json.loads(result.err)]
    assert (result.status, problems) == (3, slip["problems"])
