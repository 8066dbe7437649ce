"""Pages of the shipped reports are filled: no page but the last ends in its upper half."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pypdf
import pytest

from assay.report.document import parse_document
from assay.report.render.pdf import render
from tests.report_sample import TEMPLATES

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


@pytest.mark.parametrize("name", REPORTS)
def test_only_the_last_page_may_be_half_empty(name: str, tmp_path: Path) -> None:
    document = parse_document((GOLDEN / f"{name}.document.json").read_text(encoding="utf-8"))
    render(document, tmp_path, TEMPLATES)
    fills = [measure_fill(page) for page in pypdf.PdfReader(tmp_path / "report.pdf").pages]
    assert [(number, round(fill, 2)) for number, fill in enumerate(fills[:-1], start=1) if fill < LEAST] == []
