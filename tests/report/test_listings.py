"""Test how pages show long listings: the rows with the greatest values, and on a web page all of them, folded."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from assay.report.blocks.listing import SHORTLIST, list_greatest
from assay.report.document import Document
from assay.report.document_json import parse_document, to_json
from assay.report.render.html import build_page
from assay.report.render.markdown import render_markdown
from assay.report.tables import Table
from tests.support.laboratory import ROOT

MOST = "1.00 adoption"


@pytest.fixture(scope="module")
def document(two: Path) -> Document:
    return parse_document((two / "document.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def listing(document: Document) -> Table:
    """Return the analysed blocks of the first run."""
    return next(part for part in document.parts if part.title == "Analysed blocks").tables[0]


def find_column(table: Table, name: str) -> int:
    """Return the index of a column, whose unit suits its values."""
    return next(index for index, heading in enumerate(table.header) if heading.partition(",")[0] == name)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 5, 3] * SHORTLIST, [1 + 3 * index for index in range(SHORTLIST)]),
        ([None, *range(SHORTLIST)], list(range(SHORTLIST, 0, -1))),
        (list(range(SHORTLIST)), []),
    ],
)
def test_greatest_rows_come_first_and_ties_in_order(values: list[int | None], expected: list[int]) -> None:
    assert list(list_greatest([{"most": value} for value in values], "most")) == expected
    assert list_greatest([{"most": value} for value in values], "") == ()


def test_shortlist_has_the_slowest_blocks(listing: Table) -> None:
    column = find_column(listing, MOST)
    values = [float(row[column]) for row in listing.rows]
    assert len(listing.shortlist) == SHORTLIST < len(values)
    assert [values[index] for index in listing.shortlist] == sorted(values, reverse=True)[:SHORTLIST]
    assert {link.row for link in listing.leads} == set(listing.shortlist)


def test_document_with_a_shortlist_is_read_again(document: Document) -> None:
    assert parse_document(to_json(document)) == document


def test_markdown_prints_the_shortlist(document: Document, listing: Table) -> None:
    text = render_markdown(document)
    part = text.partition('<a id="section-analysed-blocks"></a>')[2].partition("## <a id=")[0]
    first_table = part.partition("### ")[2].partition("### ")[0]
    numbers = re.findall(r"^\| (\d+) \|", first_table, re.M)
    assert numbers == [listing.rows[index][0] for index in listing.shortlist]


def test_page_has_all_rows_folded(document: Document, listing: Table) -> None:
    page = build_page(document, ROOT / "templates", "")
    assert f"<summary>All {len(listing.rows)} rows</summary>" in page
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert match
    packed = json.loads(match[1])["tables"]["analysed-blocks-0"]
    assert [tuple(row) for row in zip(*map(unpack, packed["columns"]), strict=True)] == list(listing.rows)
    assert packed["numeric"][find_column(listing, MOST)]
    assert not packed["numeric"][find_column(listing, "Forger")]


def unpack(column: dict[str, Any]) -> list[str]:
    """Return the values of a packed column."""
    if "runs" in column:
        return [value for value, number in column["runs"] for _ in range(number)]
    return [column["values"][place] for place in column["places"]] if "places" in column else column["plain"]
