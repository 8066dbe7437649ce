"""Test that the check of edited observations catches the slips of published reports."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import run_assay
from tests.support.documentation import ROOT
from tests.support.joined_columns import join_columns, list_values, read_publication

PUBLISHED = ROOT / "golden" / "published"
SLIPS = tomllib.loads((Path(__file__).parent / "slips.toml").read_text(encoding="utf-8"))["slip"]


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: slip["name"])
def test_slip_of_a_published_report_is_found(slip: dict[str, Any], tmp_path: Path, cache: Path) -> None:
    prose = tmp_path / "observations.md"
    prose.write_text(slip["prose"].lstrip(), encoding="utf-8")
    names = (name.rpartition("=") for name in slip.get("publications", ()))
    places = [f"{case}{sign}{PUBLISHED / file}.json" for case, sign, file in names]
    if "columns" in slip:
        base, other = map(tuple, slip["columns"])
        places = [str(join_columns(tmp_path / "joined.json", base, other))]
    result = run_assay("--cache", cache, "--errors", "json", "check-prose", prose, *places, cwd=ROOT)
    problems = [[item["message"], item["expected"]] for item in json.loads(result.err)]
    assert (result.status, problems) == (3, slip["problems"])


def test_publications_print_the_same_columns() -> None:
    """Show that columns of other publications are those of 10.3.1, where its publication is here: under value-only."""
    shared = {"10.2": ("release-10.2.1", "10.2.0"), "10.3.0-ghc965": ("release-10.4.1", "10.3.0")}
    published = read_publication("release-10.3.1.value-only")
    for run, (name, column) in shared.items():
        values = dict(list_values(published, run))
        assert len(values) > 40
        assert values == dict(list_values(read_publication(f"{name}.value-only"), column))
