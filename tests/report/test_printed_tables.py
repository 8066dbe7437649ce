"""Tables of the web page that continue on the next sheet of paper."""

from __future__ import annotations

import io
from pathlib import Path

import pypdf
import pytest
from playwright.sync_api import Browser

from assay.report.render.html import build_chart_bundle, build_page
from tests.report_sample import TEMPLATES, build_sample
from tests.support.browser import open_page

HEIGHTS = range(200, 260, 2)  # mm of a blank before a table; a sheet has 261
FOOT = "<tfoot><tr><th>Count</th><td>1</td></tr></tfoot>"
TABLES = """([heights, foot]) => {
  const rows = "<tr><th>Row</th><td>1</td></tr>".repeat(4);
  document.querySelector("main").innerHTML = heights.map((height) => `
    <div style="break-before: page; height: ${height}mm"></div><h2>Title</h2><div class="scroll"><table>
    <caption class="hidden">Title</caption>
    <thead><tr><th>Head</th><th>Run</th></tr></thead><tbody>${rows}</tbody>${foot}</table></div>`).join("");
}"""


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    file = tmp_path_factory.mktemp("printed") / "page.html"
    file.write_text(build_page(build_sample(), TEMPLATES, build_chart_bundle(cache / "drawings")), encoding="utf-8")
    return file


def print_tables(browser: Browser, page_file: Path, foot: str) -> list[str]:
    """Print tables, each after a blank on a new sheet, with the style of a page; return the text of each sheet."""
    with open_page(browser, page_file) as result:
        result.page.evaluate(TABLES, [list(HEIGHTS), foot])
        content = result.page.pdf(prefer_css_page_size=True)
    return [page.extract_text() for page in pypdf.PdfReader(io.BytesIO(content)).pages]


@pytest.mark.parametrize("foot", ["", FOOT], ids=["rows", "rows-and-foot"])
def test_head_of_a_table_is_followed_by_a_row(chromium: Browser, page_file: Path, foot: str) -> None:
    sheets = print_tables(chromium, page_file, foot)
    assert any(0 < sheet.count("Row") < 4 for sheet in sheets)  # some tables are parted
    assert [sheet for sheet in sheets if "Head" in sheet and "Row" not in sheet] == []


def test_last_line_of_a_table_is_printed_once(chromium: Browser, page_file: Path) -> None:
    sheets = print_tables(chromium, page_file, FOOT)
    assert sum(sheet.count("Count") for sheet in sheets) == len(HEIGHTS)
