"""Pages of the shipped reports are filled: no page but the last ends in its upper half."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pypdf
import pytest

from assay.report.document import Entry, Group
from assay.report.document_json import parse_document
from assay.report.render.pdf import render
from tests.report_sample import TEMPLATES, build_sample

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "reports"
REPORTS = ("endurance", "qa", "three", "two-org-2023")
FOOT = 66.0  # points from the bottom of a page to the lowest text above its foot
LEAST = 0.58  # of the height between head and foot


def measure_fill(page: pypdf.PageObject) -> float:
    """Return the share of a page, between head and foot, that lies above its lowest text."""
    heights: list[float] = []

    def visit(text: str, user: Any, matrix: Any, font: Any, size: Any) -> None:  # noqa: ARG001
        if text.strip():
            heights.append(user[5] + user[3] * matrix[5])

    page.extract_text(visitor_text=visit)
    top = float(page.mediabox.height) - 74
    return (top - min((height for height in heights if height > FOOT), default=top)) / (top - FOOT)


ENTRIES = 20  # of a group of the dictionary, so that there are pages enough for contents


@pytest.mark.parametrize("name", REPORTS)
def test_only_the_last_page_may_be_half_empty(name: str, tmp_path: Path) -> None:
    document = parse_document((GOLDEN / f"{name}.document.json").read_text(encoding="utf-8"))
    render(document, tmp_path, TEMPLATES)
    fills = [measure_fill(page) for page in pypdf.PdfReader(tmp_path / "report.pdf").pages]
    assert [(number, round(fill, 2)) for number, fill in enumerate(fills[:-1], start=1) if fill < LEAST] == []


@pytest.mark.parametrize(("count", "is_listed"), [(12, True), (50, False)])
def test_contents_list_subsections_only_on_one_page(count: int, is_listed: bool, tmp_path: Path) -> None:
    titles = [f"Part {number}" for number in range(1, count + 1)]
    groups = tuple(
        Group(title, tuple(Entry(f"{title}.{number}", "Time", "s", "", "") for number in range(ENTRIES)))
        for title in titles
    )
    render(replace(build_sample(), parts=(), dictionary=groups), tmp_path, TEMPLATES)
    pages = [page.extract_text() for page in pypdf.PdfReader(tmp_path / "report.pdf").pages]
    assert ["Provenance" in page for page in pages[:2]] == [True, False]  # contents are on the first
    numbered = re.findall(r"\b2[.]\d+ Part \d+\b", "\n".join(pages))
    assert len(numbered) == count * (2 if is_listed else 1)
