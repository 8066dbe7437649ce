"""Stills: what a reader sees of charts before the script of a page draws them, on paper, and where no script runs."""

from __future__ import annotations

import base64
import io
import re
from dataclasses import replace
from pathlib import Path

import pypdf
import pytest
from playwright.sync_api import Browser, expect

from assay.report.charts.render import draw
from assay.report.document import Part, Plot
from assay.report.render.chart_images import COLOURS, LARGEST, build_still, build_stills, shorten_svg
from assay.report.render.html import build_chart_bundle, build_page
from tests.report.test_html import create_hostile_document
from tests.report_sample import FONTS, TEMPLATES, build_sample, limit_charts
from tests.support.browser import list_accessibility_problems, open_page

#: whether a drawing has the whole width of its figure or the height of print, and lines in it
EXTENT = "item => { const box = item.getBoundingClientRect(); return [box.width > 200, box.height > 150]; }"


def create_large_plot() -> Plot:
    """Create a plot of so many points that its drawing is large."""
    rows = tuple(("a", x / 10, float(x * x % 5), None) for x in range(9000))
    return Plot("large", 9, "Large", "tx", "Many points.", "timeline", ("line", "x", "y", "mark"), rows, ("a",))


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Write a page of three figures with stills: two distributions, and a plot that is large."""
    document = limit_charts(build_sample(), 2)
    document = replace(document, parts=(*document.parts, Part("part", "Part", (), (create_large_plot(),), ())))
    folder = tmp_path_factory.mktemp("stills")
    for drawing in draw(document.drawn_figures, TEMPLATES, document.manifest.header[1:]):
        (folder / f"{drawing.id}.svg").write_text(drawing.svg, encoding="utf-8")
    stills = build_stills(document.drawn_figures, folder, FONTS)
    page = build_page(document, TEMPLATES, build_chart_bundle(cache / "drawings"), stills=stills)
    file = folder / "page.html"
    file.write_text(page, encoding="utf-8")
    return file


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_charts_are_visible_without_scripts(chromium: Browser, page_file: Path, scheme: str) -> None:
    with open_page(chromium, page_file, java_script_enabled=False, color_scheme=scheme) as opened:
        stills = opened.page.locator(".still")
        expect(stills).to_have_count(3)
        assert [still.evaluate(EXTENT) for still in stills.all()] == [[True, True]] * 3
        assert stills.first.get_by_text("share of samples").is_visible()
        ink = opened.page.evaluate("getComputedStyle(document.body).color")
        assert stills.first.locator("text").first.evaluate("item => getComputedStyle(item).fill") == ink
        assert opened.page.locator(".legend:visible, .drawing:visible").count() == 0
        content = opened.page.pdf(prefer_css_page_size=True)
        assert (opened.messages, opened.requests[1:]) == (
            [],
            [url for url in opened.requests[1:] if url[:5] == "data:"],
        )
    text = "".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(content)).pages)
    assert text.count("share of samples") >= 2


def test_script_replaces_stills_in_place(chromium: Browser, page_file: Path) -> None:
    with open_page(chromium, page_file) as opened:
        assert opened.page.locator(".still").count() == 0
        assert opened.page.locator(".drawing.drawn:visible").count() == 3
        assert opened.page.locator(".legend button:visible").count() > 0
        assert opened.messages == []


def test_stills_remain_if_the_library_fails(chromium: Browser, page_file: Path, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    text = page_file.read_text(encoding="utf-8")
    file.write_text(
        re.sub(r'(<script type="text/plain"[^>]*>)', r"\1 ", text), encoding="utf-8"
    )  # not the hashed bytes
    with open_page(chromium, file) as opened:
        assert opened.page.locator(".still:visible").count() == 3
        assert opened.page.locator(".drawing").count() == 0
        assert len(opened.messages) > 0
        assert list_accessibility_problems(opened.page) == []


def test_hostile_texts_of_stills_stay_texts(tmp_path: Path) -> None:
    document = create_hostile_document()
    for drawing in draw(document.drawn_figures, TEMPLATES, document.manifest.header[1:]):
        (tmp_path / f"{drawing.id}.svg").write_text(drawing.svg, encoding="utf-8")
    page = build_page(document, TEMPLATES, "", stills=build_stills(document.drawn_figures, tmp_path, FONTS))
    assert page.count('<div class="still') == len(document.drawn_figures) > 0
    assert "<b onclick" not in page
    assert page.count("<script") == 3


def test_ids_of_stills_differ() -> None:
    clip = '<clipPath id="clip0"><path d="M0,0"/></clipPath>'
    svg = f'<svg width="9" height="8">{clip}<g clip-path="url(#clip0)"><text>id</text></g></svg>'
    first, second = (build_still(svg, number, FONTS) for number in (1, 2))
    assert (first.width, first.height) == (9.0, 8.0)
    assert 'id="still-1-clip0"' in first.svg
    assert 'clip-path="url(#still-1-clip0)"' in first.svg
    assert first.svg.replace("still-1", "still-2") == second.svg


def test_texts_of_stills_are_whole() -> None:
    svg = (
        '<svg><text class="a" transform="translate(0.123456,9)" fill="#333333">0.123456 #333333 class="a"</text></svg>'
    )
    expected = '<svg><text transform="translate(0.1,9)" fill="var(--ink)">0.123456 #333333 class="a"</text></svg>'
    assert shorten_svg(svg, 1) == expected


def test_colours_of_print_are_those_of_the_page() -> None:
    style = (TEMPLATES / "html" / "report.css").read_text(encoding="utf-8")
    printed = {
        colour
        for file in (TEMPLATES / "charts").iterdir()
        for colour in re.findall(r"#[0-9a-fA-F]{6}\b", file.read_text(encoding="utf-8"))
    }
    assert printed - set(COLOURS) == {"#e3b23c"}  # a highlight that is seen in light and dark
    assert [name for name in COLOURS.values() if f"--{name}: light-dark(" not in style] == []


def test_large_drawings_become_pictures(tmp_path: Path) -> None:
    (drawing,) = draw([create_large_plot()], TEMPLATES)
    assert len(shorten_svg(drawing.svg, 9)) > LARGEST
    first, cached = (build_still(drawing.svg, 9, FONTS, tmp_path) for _ in range(2))
    assert first == cached == build_still(drawing.svg, 9, FONTS)
    content = base64.b64decode(first.png)
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert [int.from_bytes(content[place : place + 4], "big") for place in (16, 20)] == [
        round(first.width * 1.5),
        round(first.height * 1.5),
    ]
