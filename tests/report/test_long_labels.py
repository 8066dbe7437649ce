"""Heads of tables whose rows have long names: they do not run into each other in the PDF."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pypdf

from assay.report.cell_links import list_printed_columns
from assay.report.render.pdf import render
from assay.report.tables import MetricTable
from tests.report_sample import TEMPLATES, build_sample
from tests.support.documents import replace_parts

LETTER = 3.7  # points, the least width on average of those of heads


def test_heads_beside_long_names_stay_apart(tmp_path: Path) -> None:
    header = ("", "latency", "latency_2", "Δ", "Δ%", "95 %", "Verdict")
    name = "Latency: https://shop.example.org/checkout/payment-methods/of-customers, ms"
    rows = ((name, "1", "2", "+1", "+9", "–", "–"),)
    printed = list_printed_columns((("a",), ("b",)), is_judged=True)
    section = MetricTable("times", "Times", "", header, rows, (None,), printed=printed)
    render(replace(replace_parts(build_sample(), [section], []), dictionary=()), tmp_path, TEMPLATES)
    places: dict[str, tuple[float, float]] = {}
    reader = pypdf.PdfReader(tmp_path / "report.pdf")
    for page in reader.pages:
        page.extract_text(visitor_text=lambda text, matrix, *_: places.update({text.strip(): (matrix[4], matrix[5])}))
    starts = [places[head] for head in header[1:]]
    assert len({height for _, height in starts}) == 1  # none is broken
    ends = [*(x for x, _ in starts[1:]), float(reader.pages[0].mediabox.width) - 62]
    assert [
        head for head, (x, _), end in zip(header[1:], starts, ends, strict=True) if x + LETTER * len(head) > end
    ] == []
