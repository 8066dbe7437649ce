"""The web page in a browser: it draws, sorts, explains, switches, prints, and everybody can use it."""

from __future__ import annotations

import io
import json
import operator
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pypdf
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from assay.report.document import Document, Part, Plot
from assay.report.document_json import parse_document
from assay.report.glossary import iter_tables
from assay.report.render.html import build_chart_bundle
from assay.report.render.html import build_page as page_of
from assay.report.tables import MetricTable
from assay.util import escape
from tests.compare_reference import CARDANO
from tests.report.test_html import HOSTILE, create_hostile_document
from tests.report_sample import TEMPLATES, build_sample, limit_charts, widen_document
from tests.support.browser import OpenPage, list_accessibility_problems, open_page
from tests.support.commands import MODEL, build
from tests.support.laboratory import ROOT

PAIR = tuple(f"{case}={CARDANO / case / 'run'}" for case in ("baseline", "candidate"))
#: number of marks of a drawing: of an SVG, or of a canvas, where marks cannot be counted in the page
MARKS = """place => place.querySelector("canvas") ? 1
  : place.querySelectorAll("svg g.mark-line path, svg g.mark-symbol path, svg g.mark-rule line").length"""
#: lines, or areas between them
SHAPES = "svg g.mark-line path, svg g.mark-area path"
LINES = "place => place.querySelectorAll('svg g.mark-line path').length"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Build the report of two runs as a web page; return its folder."""
    out = tmp_path_factory.mktemp("page") / "report"
    result = build(PAIR, out, cache, *MODEL, "--to", "html")
    assert (result.status, result.err, result.out) == (0, "", f"{out / 'report.html'}\n")
    return out


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, report: Path, cache: Path) -> dict[str, Path]:
    """Write page files: of a build, of documents of pinned builds, of a document of hostile texts."""
    folder, script = tmp_path_factory.mktemp("pages"), build_chart_bundle(cache / "drawings")
    documents = {
        name: load_document(ROOT / f"golden/reports/{name}.document.json")
        for name in ("three", "history", "qa", "published")
    }
    result = {"two": report / "report.html"}
    for name, document in {**documents, "hostile": create_hostile_document()}.items():
        result[name] = folder / f"{name}.html"
        result[name].write_text(page_of(document, TEMPLATES, script), encoding="utf-8")
    return result


@pytest.fixture(scope="module")
def shared_page(chromium: Browser, pages: dict[str, Path]) -> Iterator[OpenPage]:
    """Open the page of two runs once for all tests that leave it unchanged."""
    with open_page(chromium, pages["two"]) as result:
        yield result


def load_document(file: Path) -> Document:
    return parse_document(file.read_text(encoding="utf-8"))


def find_drawing(page: Page, chart: str) -> Locator:
    return page.locator(f'.drawing[data-chart="{chart}"]')


# Drawing


def test_click_on_a_bar_of_steps_opens_its_metric(chromium: Browser, pages: dict[str, Path]) -> None:
    with open_page(chromium, pages["two"]) as result:
        bars = result.page.locator('.drawing[data-chart^="steps-cdfForgerAnnounceCum"] .mark-rect path')
        expect(bars).to_have_count(10)
        for number, name in ((5, "Ledger ticking"), (9, "Slot start to announced")):
            bars.nth(number).click()
            expect(result.page.locator("#definition-name")).to_have_text(name)
        panel = result.page.locator("#definition-body")
        expect(panel).to_contain_text(re.compile(r"\d\d % of it is Ledger ticking"))
        assert result.messages == []


@pytest.mark.parametrize("name", ["two", "three", "history", "qa", "hostile"])
def test_all_charts_draw_without_messages_and_requests(chromium: Browser, pages: dict[str, Path], name: str) -> None:
    with open_page(chromium, pages[name]) as result:
        places = result.page.locator(".drawing")
        marks = [place.evaluate(MARKS) for place in places.all()]
        specs = json.loads(result.page.locator("#data").text_content() or "")["charts"]
        assert len(marks) == len(specs) > 0
        assert min(marks) > 0
        named_drawings = result.page.locator(".drawing[role='graphics-document']")
        assert [place.get_attribute("aria-label") for place in named_drawings.all()] == [
            spec["description"] for spec in specs.values()
        ]
        assert result.messages == []
        assert {url.partition(":")[0] for url in result.requests} <= {"file", "data"}
        assert [url for url in result.requests if url.startswith("file")] == [pages[name].as_uri()]


def test_details_of_a_metric_are_drawn_when_it_is_asked_for(chromium: Browser, pages: dict[str, Path]) -> None:
    with open_page(chromium, pages["two"]) as opened:
        opened.page.locator('a[data-metric="CentiCpu"]').first.click()
        drawings = opened.page.locator("dialog .details .drawing")
        expect(drawings).to_have_count(5)
        for index in range(5):
            expect(drawings.nth(index)).to_have_class(re.compile("drawn"))
            assert drawings.nth(index).evaluate(MARKS) > 1
        expect(opened.page.locator("dialog")).to_contain_text("The distributions differ most at")
        assert (opened.messages, opened.requests[1:]) == ([], [])


def test_hostile_texts_do_nothing_and_are_shown(chromium: Browser, pages: dict[str, Path]) -> None:
    with open_page(chromium, pages["hostile"]) as result:
        assert result.page.locator("h1").text_content() == escape.normalize_text(HOSTILE)
        assert result.page.locator("b[onclick]").count() == 0
        button = result.page.locator(".legend button").first
        before = find_drawing(result.page, "plot").evaluate(LINES)
        result.page.locator("#figure-plot .legend button").click()
        expect(find_drawing(result.page, "plot").locator("svg g.mark-line path")).to_have_count(before - 1)
        assert (button.get_attribute("data-line") or "").startswith("</script>")
        result.page.locator("table.metrics a.value").first.click()
        assert escape.normalize_text(HOSTILE) in (result.page.locator("#definition-body").text_content() or "")
        assert result.messages == []


def test_a_name_above_a_figure_switches_its_line_off_and_on(shared_page: OpenPage) -> None:
    place = find_drawing(shared_page.page, "CentiCpu")
    paths = place.locator("svg g.mark-line path")
    expect(paths).to_have_count(2)
    button = shared_page.page.locator("#figure-CentiCpu .legend button").nth(1)
    button.focus()
    shared_page.page.keyboard.press("Enter")
    expect(paths).to_have_count(1)
    assert button.get_attribute("aria-pressed") == "false"
    shared_page.page.keyboard.press("Space")
    expect(paths).to_have_count(2)
    assert button.get_attribute("aria-pressed") == "true"


def test_with_shift_a_name_switches_its_line_in_all_figures(shared_page: OpenPage) -> None:
    button = shared_page.page.locator("#figure-CentiCpu .legend button").first
    other_lines = find_drawing(shared_page.page, "cdf0.50").locator("svg g.mark-line path")
    expect(other_lines).to_have_count(2)
    button.click(modifiers=["Shift"])
    expect(other_lines).to_have_count(1)
    button.click(modifiers=["Shift"])
    expect(other_lines).to_have_count(2)


def test_a_line_over_time_can_be_switched_off(chromium: Browser, pages: dict[str, Path]) -> None:
    with open_page(chromium, pages["qa"]) as result:
        chart = result.page.locator(".drawing[data-chart^='series-']").first
        lines, buttons = chart.locator(SHAPES), chart.locator("xpath=..").locator(".legend button")
        count = buttons.count()
        assert count > 1
        expect(lines).to_have_count(count)
        buttons.nth(1).click()
        expect(lines).to_have_count(count - 1)


def test_line_may_have_the_name_of_an_axis(chromium: Browser, tmp_path: Path, cache: Path) -> None:
    rows = [(name, float(x), y) for name, y in (("x", 2900.0), ("y", 50.0)) for x in range(30)]
    names, columns = ("x", "y"), ("line", "x", "y")
    plot = Plot("m", 1, "Lines", "tx", "Lines.", "timeline", columns, tuple(rows), names, x_label="seconds")
    document = replace(build_sample(), parts=(Part("part", "Part", (), (plot,), ()),))
    file = tmp_path / "page.html"
    file.write_text(page_of(document, TEMPLATES, build_chart_bundle(cache / "drawings")), encoding="utf-8")
    with open_page(chromium, file) as result:
        place = find_drawing(result.page, "m")
        assert place.evaluate("place => place.view.scale('x').domain()") == [0, 29]
        place.scroll_into_view_if_needed()
        box = place.locator("svg line[stroke-width='5']").nth(7).bounding_box() or {}
        for step in (60, 62):
            result.page.mouse.move(box["x"] + 2, box["y"] + step)
        tooltip = result.page.locator("#vg-tooltip-element.visible")
        expect(tooltip).to_be_visible()
        facts = dict(
            zip(*(tooltip.locator(f"td.{part}").all_text_contents() for part in ("key", "value")), strict=True)
        )
        assert {name.strip(" :"): value for name, value in facts.items()} == {
            "along\u00a0x": "7",
            "x": "2900",
            "y": "50",
            "unit": "tx",
        }
        assert result.messages == []


TICKS = "place => [...place.querySelectorAll('g.role-axis-label text')].map(item => item.textContent).sort().join()"


def test_axes_zoom_and_come_back(shared_page: OpenPage) -> None:
    place = find_drawing(shared_page.page, "cdf0.50")
    before = place.evaluate(TICKS)
    buttons = shared_page.page.locator("#figure-cdf0\\.50 .zoom button")
    assert buttons.all_text_contents() == ["+", "−", "Reset"]
    ticks_script = f"([place, was, same]) => (({TICKS})(place) === was) === same"
    button_box, drawing_box = buttons.nth(2).bounding_box(), place.bounding_box()
    assert button_box is not None
    assert drawing_box is not None
    assert button_box["y"] + button_box["height"] <= drawing_box["y"], "the buttons cover nothing of the drawing"
    buttons.nth(0).click()
    shared_page.page.wait_for_function(ticks_script, arg=[place.element_handle(), before, False])
    buttons.nth(1).click()
    buttons.nth(2).click()
    shared_page.page.wait_for_function(ticks_script, arg=[place.element_handle(), before, True])


def test_tooltip_of_a_line_has_run_value_and_centile(shared_page: OpenPage) -> None:
    place = find_drawing(shared_page.page, "cdf0.50")
    place.scroll_into_view_if_needed()
    place.locator("svg g.mark-symbol path").nth(8).hover(force=True)
    tooltip = shared_page.page.locator("#vg-tooltip-element.visible")
    expect(tooltip).to_be_visible()
    names = [text.strip() for text in tooltip.locator("td.key").all_text_contents()]
    assert names[:3] == ["run", "value", "share of samples"]
    assert tooltip.locator("td.value").first.text_content() in {"baseline", "candidate"}
    shared_page.page.mouse.move(0, 0)


# Definitions of numbers


def test_a_click_on_a_number_shows_its_definition(shared_page: OpenPage, report: Path) -> None:
    results = json.loads((report / "results.json").read_text(encoding="utf-8"))["metrics"]["cdfPeerFetch"]
    link = shared_page.page.locator('td a.value[data-metric="cdfPeerFetch"]').nth(1)
    number = link.text_content() or ""
    link.click()
    dialog = shared_page.page.locator("dialog")
    expect(dialog).to_be_visible()
    text = dialog.inner_text()
    assert dialog.locator("h2").inner_text() == "Fetch duration"
    assert f"{number} — Fetch duration, ms: candidate" in text
    document = load_document(report / "document.json")
    (entry,) = (entry for group in document.dictionary for entry in group.entries if entry.id == "cdfPeerFetch")
    assert {entry.description, entry.definition, entry.id} <= set(text.split("\n"))
    rows = [row.inner_text().split("\t") for row in dialog.locator("table").first.locator("tbody tr").all()]
    assert [row[:3] for row in rows] == [
        [label, str(run["size"]), f"{run['average']:.6g}"]
        for label, run in zip(("baseline", "candidate"), results["runs"].values(), strict=True)
    ]
    assert {"fetch_requested", "fetch_completed"} <= set(text.split("\n"))
    files = ["sql/metrics/cdfPeerFetch.sql", "sql/rows/cells-observation.sql", "sql/rows/quantiles-observation.sql"]
    assert f"SQL, {', '.join(files)}" in text
    whole, cells, quantiles = (dialog.locator("pre").text_content() or "").split(";\n\n")
    assert whole.strip() in (report / files[0]).read_text(encoding="utf-8")
    # Of statements for all metrics of a grain, that part is shown which is about this metric.
    assert "LIST_EXTRACT(['cdfPeerFetch'], metric + 1)" in cells
    value = quantiles.partition("FROM (\n    SELECT\n")[2].partition(" AS value")[0].strip()
    assert value.startswith("fetche")
    assert value in (report / files[2]).read_text(encoding="utf-8")
    shared_page.page.keyboard.press("Escape")
    expect(dialog).not_to_be_visible()


def test_number_of_no_metric_shows_its_origin(shared_page: OpenPage, report: Path) -> None:
    table = shared_page.page.locator("#manifest ~ div table")
    row = table.locator("tbody tr", has=shared_page.page.get_by_text("Blocks analysed", exact=True))
    row.locator("td a").nth(1).click()
    dialog = shared_page.page.locator("dialog")
    expect(dialog).to_be_visible()
    text = dialog.inner_text()
    assert "Column" in text
    assert "one row a run" in text
    name = dialog.locator("h3 code").inner_text()
    assert (dialog.locator("pre").text_content() or "").strip() in (report / name).read_text(encoding="utf-8")
    shared_page.page.keyboard.press("Escape")


def list_places(page: Page, selector: str) -> list[tuple[int, int]]:
    """Return the left and upper edges of elements."""
    boxes = [item.bounding_box() or {} for item in page.locator(selector).all()]
    return [(round(box["x"]), round(box["y"])) for box in boxes]


def test_figures_are_side_by_side_on_a_wide_page_only(chromium: Browser, pages: dict[str, Path]) -> None:
    for width, tables, charts in ((1440, 2, 2), (390, 1, 1)):
        with open_page(chromium, pages["published"], viewport={"width": width, "height": 900}) as result:
            assert len({x for x, _ in list_places(result.page, ".row-of-tables > div")}) == tables
            assert result.page.evaluate("document.documentElement.scrollWidth") <= width
        with open_page(chromium, pages["qa"], viewport={"width": width, "height": 900}) as result:
            assert len({x for x, _ in list_places(result.page, ".of-2 .chart")}) == charts


def test_keys_move_between_numbers_and_open_a_definition(shared_page: OpenPage) -> None:
    table = shared_page.page.locator("table.metrics").first
    assert table.locator('tbody a[tabindex="0"]').count() == 1
    table.locator('tbody a[tabindex="0"]').focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowUp", "ArrowDown"):
        shared_page.page.keyboard.press(key)
    focused = "[document.activeElement.textContent, document.activeElement.dataset.of]"
    before = shared_page.page.evaluate(focused)
    assert before[0] == table.locator("tbody tr").nth(1).locator("th, td").nth(2).text_content()
    shared_page.page.keyboard.press("Enter")
    expect(shared_page.page.locator("dialog")).to_be_visible()
    assert shared_page.page.locator("dialog strong").first.inner_text() == before[0]
    shared_page.page.keyboard.press("Escape")
    expect(shared_page.page.locator("dialog")).not_to_be_visible()
    assert shared_page.page.evaluate(focused) == before


def test_without_scripts_a_number_leads_to_the_dictionary(chromium: Browser, pages: dict[str, Path]) -> None:
    with open_page(chromium, pages["two"], java_script_enabled=False) as result:
        link = result.page.locator('td a.value[data-metric="cdfPeerFetch"]').first
        link.click()
        assert result.page.url.endswith("#metric-cdfPeerFetch")
        assert result.page.locator("noscript").count() == 0
        assert result.page.locator("tr:target th a[data-metric]").text_content() == "Fetch duration"
        assert not result.page.locator(".scripted").first.is_visible()
        assert not result.page.locator("#theme").is_visible()


# Tables


def list_column_texts(table: Locator, index: int) -> list[str]:
    """Return the texts of a column below its heading."""
    return [row.locator("th, td").nth(index).text_content() or "" for row in table.locator("tbody tr").all()]


def sort_by_value(section: MetricTable, column: int, *, is_descending: bool = False) -> list[str]:
    """Return the texts of a column in the order of the unrounded values, whose units differ in print."""
    rows = [
        (keys[column - 1] or 0.0, row[column])
        for metric, row, keys in zip(section.metrics, section.rows, section.sort_keys, strict=True)
        if metric
    ]
    return [text for _, text in sorted(rows, key=operator.itemgetter(0), reverse=is_descending)]


def test_a_heading_sorts_by_value_with_the_keyboard(shared_page: OpenPage, report: Path) -> None:
    section = load_document(report / "document.json").metric_tables[0]
    table = shared_page.page.locator("table.metrics").first
    before = list_column_texts(table, 1)
    heading = table.locator("thead th").nth(1)
    heading.locator("button").focus()
    shared_page.page.keyboard.press("Enter")
    assert heading.get_attribute("aria-sort") == "ascending"
    assert list_column_texts(table, 1) == sort_by_value(section, 1) != sorted(before)
    assert shared_page.page.locator("#status").text_content() == "Resource Usage: sorted by baseline, ascending"
    shared_page.page.keyboard.press("Enter")
    assert heading.get_attribute("aria-sort") == "descending"
    assert list_column_texts(table, 1) == sort_by_value(section, 1, is_descending=True)
    shared_page.page.keyboard.press("Space")
    assert heading.get_attribute("aria-sort") is None
    assert list_column_texts(table, 1) == before


def test_missing_values_come_last_in_both_orders(shared_page: OpenPage) -> None:
    table = shared_page.page.locator(
        "table.metrics", has=shared_page.page.locator("caption", has_text="Anomaly control")
    )
    button = table.locator("thead th").nth(4).locator("button")
    for _ in range(2):
        button.click()
        assert list_column_texts(table, 4)[-1] == "—"
    button.click()


def test_headings_of_many_runs_sort_their_own_columns(chromium: Browser, pages: dict[str, Path]) -> None:
    with open_page(chromium, pages["three"]) as result:
        section = load_document(ROOT / "golden/reports/three.document.json").metric_tables[2]
        table = result.page.locator("table.metrics").nth(2)
        for index in (2, 4, 5, 6, 7, 11):
            table.locator(f'thead th[data-column="{index}"] button').click()
            assert list_column_texts(table, index) == sort_by_value(section, index)


def test_the_head_of_a_table_stays_in_sight(shared_page: OpenPage) -> None:
    table = shared_page.page.locator("table.metrics").first
    table.locator("tbody tr").nth(8).evaluate("row => window.scrollTo(0, row.getBoundingClientRect().top + scrollY)")
    assert table.locator("thead th").first.evaluate("head => head.getBoundingClientRect().top") == pytest.approx(
        0, abs=1
    )
    shared_page.page.evaluate("window.scrollTo(0, 0)")


LONG = "release-candidate-of-the-node-with-the-new-mempool-and-a-long-name-"
#: width of an element, and whether some of its text is beyond its edges
EXTENT = "item => [item.getBoundingClientRect().width, item.scrollWidth > item.clientWidth]"


def test_long_names_of_runs_are_whole_in_narrow_columns(chromium: Browser, tmp_path: Path, cache: Path) -> None:
    document = widen_document(limit_charts(build_sample(), 1), [f"{LONG}{number}" for number in (1, 2)])
    file = tmp_path / "page.html"
    file.write_text(page_of(document, TEMPLATES, build_chart_bundle(cache / "drawings")), encoding="utf-8")
    with open_page(chromium, file, viewport={"width": 390, "height": 800}) as result:
        headings = result.page.locator("table.metrics").first.locator("thead th button > span")
        assert max(heading.evaluate(EXTENT)[0] for heading in headings.all()) <= 150
        names = result.page.locator(".legend button span")
        assert names.all_text_contents() == [f"{LONG}1", f"{LONG}2"]
        assert [name.evaluate(EXTENT)[1] for name in names.all()] == [False, False]
        assert all(name.evaluate(EXTENT)[0] < 390 for name in names.all())


@pytest.mark.parametrize(("name", "width"), [("three", 320), ("three", 900), ("history", 390)])
def test_a_narrow_page_does_not_scroll_sideways(
    chromium: Browser, pages: dict[str, Path], name: str, width: int
) -> None:
    with open_page(chromium, pages[name], viewport={"width": width, "height": 800}) as result:
        assert result.page.evaluate("document.documentElement.scrollWidth") <= width
        table = result.page.locator("table.metrics, table.leads").first
        box = table.locator("xpath=..").bounding_box()
        assert box
        assert box["width"] <= width


# Light and dark


def read_colours(page: Page) -> tuple[str, str, str]:
    """Return the colours of the paper, of the text, and of a chart's first line."""
    style_script = "(item, name) => getComputedStyle(item)[name]"
    line = find_drawing(page, "CentiCpu").locator("svg g.mark-line path").first
    body = page.locator("body")
    return (
        body.evaluate(style_script, "backgroundColor"),
        body.evaluate(style_script, "color"),
        line.evaluate(style_script, "stroke"),
    )


def test_page_is_dark_as_the_system_or_as_the_reader_chose(chromium: Browser, pages: dict[str, Path]) -> None:
    with open_page(chromium, pages["two"], color_scheme="dark") as result:
        dark = read_colours(result.page)
        button = result.page.get_by_role("button", name="Light colours")
        button.click()
        light = read_colours(result.page)
        assert all(one != other for one, other in zip(light, dark, strict=True))
        result.page.get_by_role("button", name="Dark colours").click()
        assert read_colours(result.page) == dark
        result.page.get_by_role("button", name="Light colours").click()
        result.page.reload()
        result.page.wait_for_selector("html.complete", state="attached")
        assert read_colours(result.page) == light
        assert light[:2] == ("rgb(255, 255, 255)", "rgb(22, 25, 29)")


# Everybody


@pytest.mark.parametrize(("name", "page_options"), [
    ("two", {}), ("three", {"viewport": {"width": 390, "height": 800}}), ("qa", {"color_scheme": "dark"}),
])  # fmt: skip
def test_pages_have_no_accessibility_problems(
    chromium: Browser, pages: dict[str, Path], name: str, page_options: dict[str, Any]
) -> None:
    with open_page(chromium, pages[name], bypass_csp=True, **page_options) as result:
        assert list_accessibility_problems(result.page) == []
        result.page.locator("a.value").first.click()
        expect(result.page.locator("dialog")).to_be_visible()
        assert list_accessibility_problems(result.page) == []


def test_first_tab_stop_skips_the_contents(shared_page: OpenPage) -> None:
    shared_page.page.reload()
    shared_page.page.wait_for_selector("html.complete", state="attached")
    shared_page.page.keyboard.press("Tab")
    assert shared_page.page.evaluate("document.activeElement.textContent") == "Skip to the report"
    shared_page.page.keyboard.press("Enter")
    assert shared_page.page.evaluate("document.activeElement.id") == "main"


# Paper


@pytest.mark.parametrize("name", ["two", "qa"])
def test_a_printed_page_has_all_cells_and_figures(chromium: Browser, pages: dict[str, Path], name: str) -> None:
    with open_page(chromium, pages[name], color_scheme="dark") as result:
        document = load_document(ROOT / "golden" / "reports" / f"{name}.document.json")
        content = result.page.pdf(prefer_css_page_size=True)
    assert len(content) < 5_000_000  # a dashed line that continues far beyond its axis would be that long
    printed_pdf = pypdf.PdfReader(io.BytesIO(content))
    texts = [page.extract_text() for page in printed_pdf.pages]
    if name == "two":  # the head of a table is repeated on the next pages
        squeezed = " ".join("".join(texts).split())
        heads = [f"What baseline candidate {row[0]} " for row in document.manifest.rows]
        assert heads[0] in squeezed
        assert any(head in squeezed for head in heads[1:])
    text = re.sub(r"\s", "", "".join(texts))
    tables = [document.manifest.rows, document.filters.rows, *(section.rows for section in document.metric_tables)]
    tables += [table.printed_rows for table in iter_tables(document.parts)]
    entries = [entry for group in document.dictionary for entry in group.entries]
    cells = {cell for rows in tables for row in rows for cell in row}
    cells |= {part for entry in entries for part in (entry.name, entry.id, entry.description)}
    cells |= {f"Figure {item.figure} {item.title}" for item in document.figures}
    assert sorted(cell for cell in cells if re.sub(r"[\s`]", "", cell) not in text) == []
    assert printed_pdf.pages[0].mediabox.width == pytest.approx(595, abs=2)
