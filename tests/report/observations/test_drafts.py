"""Test drafted observations on publications: the prose with its quotes, and whether it passes its own check."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import pytest

from tests.support.commands import run_assay
from tests.support.documentation import ROOT

PUBLISHED = ROOT / "golden" / "published"
DRAFTS = Path(__file__).parent / "drafts"
#: name of a file in `drafts` -> what is drafted
CASES = {
    "10.5.4-plutus": ("release-10.5.4.plutus.json",),
    "10.1.1": ("value-only=release-10.1.1.value-only.json", "plutus=release-10.1.1.plutus.json"),
    "10.3.1-two-runs": ("release-10.3.1.value-only.json",),
    "8.7.1-three-runs-twice": (
        "value-only=8.7.1_8.1.2_8.7.0-pre_8.7.1-pre.value-only.json",
        "plutus=8.7.1_8.1.2_8.7.0-pre_8.7.1-pre.plutus.json",
    ),
}


def list_places(name: str) -> list[str]:
    """Return the publications of a case as arguments."""
    places = (item.rpartition("=") for item in CASES[name])
    return [f"{case}{sign}{PUBLISHED / file}" for case, sign, file in places]


@pytest.mark.parametrize("name", CASES)
def test_draft_is_the_accepted_prose(name: str, cache: Path, is_accepting: bool) -> None:
    result = run_assay("--cache", cache, "draft", *list_places(name), cwd=ROOT)
    file = DRAFTS / f"{name}.md"
    if is_accepting:
        file.write_text(result.out, encoding="utf-8")
    assert (result.status, result.err, result.out) == (0, "", file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", CASES)
def test_draft_passes_its_own_check(name: str, cache: Path) -> None:
    result = run_assay("--cache", cache, "check-prose", DRAFTS / f"{name}.md", *list_places(name), cwd=ROOT)
    assert (result.status, result.err) == (0, "")


def test_draft_in_the_other_direction_fails_everywhere(cache: Path, tmp_path: Path) -> None:
    text = (DRAFTS / "10.1.1.md").read_text(encoding="utf-8")
    swapped = {"rises": "falls", "falls": "rises", "rise": "fall", "fall": "rise"}
    prose = tmp_path / "swapped.md"
    prose.write_text(re.sub(r"\b(rises?|falls?)\b", lambda match: swapped[match[0]], text), encoding="utf-8")
    result = run_assay("--cache", cache, "check-prose", prose, *list_places("10.1.1"), cwd=ROOT)
    quotes = len(re.findall(r'prints = "(?:percent|difference)"', text))
    assert (result.status, result.err.count("error[prose-direction]")) == (3, quotes)


def test_draft_of_other_numbers_fails_everywhere(cache: Path, tmp_path: Path) -> None:
    def double(match: re.Match[str]) -> str:
        return re.sub(r"\d+(?:\.\d+)?", lambda number: str(2 * Decimal(number[0])), match[0])

    text = (DRAFTS / "10.1.1.md").read_text(encoding="utf-8")
    prose = tmp_path / "doubled.md"
    prose.write_text(re.sub(r'text = "[^"]*"', double, text), encoding="utf-8")
    result = run_assay("--cache", cache, "check-prose", prose, *list_places("10.1.1"), cwd=ROOT)
    assert (result.status, result.err.count("error[prose-size]")) == (3, text.count('text = "'))
