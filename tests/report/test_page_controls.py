"""What a reader does with the tables of a page: search, choose runs, copy, share, read on a narrow page."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from assay.report.document_json import parse_document
from assay.report.render.html import build_chart_bundle, build_page
from tests.compare_reference import CARDANO
from tests.report_sample import TEMPLATES
from tests.support.browser import OpenPage, list_accessibility_problems, open_page
from tests.support.commands import MODEL, build
from tests.support.documents import list_charts, list_sections
from tests.support.laboratory import ROOT

PAIR = tuple(f"{case}={CARDANO / case / 'run'}" for case in ("baseline", "candidate"))
CLIPBOARD = {"permissions": ["clipboard-read", "clipboard-write"]}
ADDRESS = "decodeURIComponent(location.hash)"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Build the report of two runs as a web page; return its folder."""
    out = tmp_path_factory.mktemp("controls") / "report"
    assert build(PAIR, out, cache, *MODEL, "--to", "html").status == 0
    return out


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Write the page of a pinned report of three runs."""
    document = parse_document((ROOT / "golden/reports/three.document.json").read_text(encoding="utf-8"))
    file = tmp_path_factory.mktemp("three") / "report.html"
    file.write_text(build_page(document, TEMPLATES, build_chart_bundle(cache / "drawings")), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def opened(chromium: Browser, report: Path) -> Iterator[OpenPage]:
    """Open the page of two runs once, for tests that reset it."""
    with open_page(chromium, report / "report.html", **CLIPBOARD) as result:
        yield result


def list_row_labels(page: Page, table: str) -> list[str]:
    return page.locator(f"{table} tbody tr:visible th").all_text_contents()


def find_table(page: Page, caption: str) -> Locator:
    """Return the first table with a caption."""
    return page.locator("table", has=page.locator("caption", has_text=caption)).first


# Rows


def test_words_select_rows_in_all_tables(opened: OpenPage) -> None:
    page = opened.page
    field = page.get_by_label("Rows with")
    field.fill("CPU usage")
    labels = ["Process CPU usage, %", "RTS GC CPU usage, %", "RTS Mutator CPU usage, %"]
    assert list_row_labels(page, "table.metrics") == labels
    assert {"Process CPU usage", "RTS Mutator CPU usage"} <= set(list_row_labels(page, "table.forest"))
    visible = page.locator(".chart:visible figcaption").all_text_contents()
    assert len(visible) == 3
    assert all("CPU usage" in text for text in visible)
    assert not page.locator("#section-forging").is_visible()
    assert page.evaluate(ADDRESS) == "#?rows=CPU+usage"
    count = page.locator("main tbody tr:visible:not(.group)").count()
    assert page.locator("#status").text_content() == f"{count} rows"
    field.fill("centiMUT")  # the id of a metric
    assert list_row_labels(page, "table.metrics") == labels[2:]
    page.get_by_role("button", name="Show all").click()
    expect(page.locator("#section-forging")).to_be_visible()
    assert page.evaluate("location.hash") == ""
    assert field.evaluate("item => item === document.activeElement")


def test_paper_has_rows_that_are_filtered_out(opened: OpenPage) -> None:
    field = opened.page.get_by_label("Rows with")
    field.fill("CPU usage")
    opened.page.emulate_media(media="print")
    assert find_table(opened.page, "Forging").is_visible()
    opened.page.emulate_media(media="screen")
    field.fill("")
    assert find_table(opened.page, "Forging").is_visible()


def test_address_selects_rows_when_a_page_opens(chromium: Browser, report: Path) -> None:
    with open_page(chromium, report / "report.html") as result:
        page = result.page
        page.goto(f"{page.url}#section-forging?rows=ledger")
        expect(page.get_by_label("Rows with")).to_have_value("ledger")
        labels = ["Acquired ledger state, µs", "Acquired ledger view, µs", "Ledger ticking, ms"]
        assert list_row_labels(page, "table.metrics") == labels
        page.goto(page.url.partition("#")[0] + "#metric-cdfPeerFetch")  # a place that is filtered out
        expect(page.get_by_label("Rows with")).to_have_value("")
        expect(page.locator("tr.marked th a[data-metric]")).to_have_text("Fetch duration")
        assert result.messages == []


# Links to rows


def test_row_has_a_link_that_scrolls_to_it_and_marks_it(chromium: Browser, report: Path) -> None:
    with open_page(chromium, report / "report.html") as result:
        page = result.page
        row = page.locator("#row-forging-cdfForgerSend")
        link = row.locator("a.permalink")
        assert not link.is_visible()
        row.hover()
        assert link.is_visible()
        row.locator("th a.value").focus()
        page.keyboard.press("Tab")
        assert link.evaluate("item => item === document.activeElement")
        page.keyboard.press("Enter")
        expect(row).to_have_class("marked")
        address = page.url
        assert address.endswith("#row-forging-cdfForgerSend")
    context = chromium.new_context(viewport={"width": 1280, "height": 500}, reduced_motion="reduce")
    page = context.new_page()
    page.goto(address)
    expect(page.locator("tr.marked")).to_have_attribute("id", "row-forging-cdfForgerSend")
    box = page.locator("tr.marked").bounding_box()
    head = find_table(page, "Forging").locator("thead").bounding_box()
    assert box
    assert head
    assert 0 <= box["y"] < 500
    context.close()


def test_ids_of_rows_are_unique_and_name_metrics(opened: OpenPage) -> None:
    ids = opened.page.evaluate("[...document.querySelectorAll('[id]')].map(item => item.id)")
    assert len(ids) == len(set(ids))
    assert {"row-resource-usage-CentiCpu", "row-manifest-Version", "metric-CentiCpu"} & set(ids) >= {
        "row-resource-usage-CentiCpu",
        "metric-CentiCpu",
    }
    rows = opened.page.locator("table.metrics tbody tr")
    assert rows.count() == opened.page.locator("table.metrics tbody tr[id^='row-']").count()


# CSV


def read_csv(page: Page) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(page.evaluate("navigator.clipboard.readText()"))))


def test_table_is_copied_with_unrounded_numbers(opened: OpenPage, report: Path) -> None:
    page = opened.page
    button = page.get_by_role("button", name="Copy as CSV: Forging")
    button.click()
    expect(page.locator("#status")).to_have_text("Forging: Copied")
    rows = read_csv(page)
    metrics = json.loads((report / "results.json").read_text(encoding="utf-8"))["metrics"]
    assert len(rows) == page.locator("#row-forging-cdfForgerStart ~ tr").count() + 1
    for row in rows:
        averages = [run["average"] for run in metrics[row["id"]]["runs"].values()]
        assert [float(row["baseline"]), float(row["candidate"])] == averages
        assert float(row["Δ"]) == averages[1] - averages[0]
    first = rows[0]
    assert (first["Metric"], first["unit"]) == ("Started forge loop iteration", "s")
    assert first["95 %"] == "-1 … +42"
    assert first["Verdict"] == "cannot tell"
    assert list(first) == ["id", "Metric", "baseline", "candidate", "Δ", "Δ%", "95 %", "Verdict", "unit"]


def test_copy_has_the_rows_in_sight_in_their_order(opened: OpenPage) -> None:
    page = opened.page
    page.get_by_label("Rows with").fill("ledger")
    button = find_table(page, "Forging").locator("thead th button").nth(1)
    button.click()
    button.click()
    page.get_by_role("button", name="Copy as CSV: Forging").click()
    expect(page.locator("#status")).to_have_text("Forging: Copied")
    assert [row["Metric"] for row in read_csv(page)] == [
        "Ledger ticking",
        "Acquired ledger state",
        "Acquired ledger view",
    ]
    button.click()
    page.get_by_label("Rows with").fill("")


def test_without_a_clipboard_the_table_is_a_file(chromium: Browser, report: Path) -> None:
    address = "http://reports.example/report.html"  # pages of such addresses have no clipboard
    context = chromium.new_context(accept_downloads=True)
    page = context.new_page()
    page.route("**/*", lambda route: route.fulfill(path=report / "report.html", content_type="text/html"))
    page.goto(address)
    assert page.evaluate("navigator.clipboard === undefined")
    with page.expect_download() as download:
        page.get_by_role("button", name="Copy as CSV: Forging").click()
    assert download.value.suggested_filename == "Forging.csv"
    text = Path(download.value.path()).read_text(encoding="utf-8")
    assert text.startswith("id,Metric,baseline,")
    expect(page.locator("#status")).to_have_text("Forging: Saved as Forging.csv")
    context.close()


# Runs


def test_run_is_left_out_of_tables_charts_and_answers(chromium: Browser, three: Path) -> None:
    with open_page(chromium, three) as result:
        page = result.page
        box = page.get_by_role("checkbox", name="candidate", exact=True)
        lines = page.locator('.drawing[data-chart="CentiCpu"] svg g.mark-line path')
        expect(lines).to_have_count(3)
        box.focus()
        page.keyboard.press("Space")
        expect(lines).to_have_count(2)
        assert page.evaluate(ADDRESS) == "#?without=candidate"
        table = page.locator("table.metrics").first
        heads = table.locator("thead th:visible").all_text_contents()
        assert "candidate" not in [text.strip() for text in heads]
        widths = {row.locator("td:visible, th:visible").count() for row in table.locator("tbody tr").all()}
        assert widths == {1 + 1 + 5 + 1}
        assert table.locator("thead th.group:visible").evaluate("item => item.colSpan") == 5
        assert page.locator("section.answer:visible").count() == 1
        assert page.get_by_role("heading", name="candidate", exact=True).count() == 0
        expect(page.locator("#left-out")).to_have_text("Without candidate.")
        table.locator("tbody tr").nth(1).locator("td a").first.focus()
        page.keyboard.press("ArrowRight")  # passes the columns that are left out
        focused_cell = page.evaluate("document.activeElement.dataset.of")
        assert focused_cell == "Process CPU usage, %; candidate2"
        box.press("Space")
        expect(lines).to_have_count(3)
        assert table.locator("thead th.group:visible").count() == 2
        assert page.locator("#left-out").is_hidden()
        page.goto(f"{page.url.partition('#')[0]}#?without=candidate2")
        expect(lines).to_have_count(2)
        expect(page.get_by_role("checkbox", name="candidate2")).not_to_be_checked()
        assert result.messages == []


def test_two_runs_cannot_be_left_out(opened: OpenPage) -> None:
    assert opened.page.locator("#view input[type=checkbox]").count() == 0


# Narrow pages


@pytest.mark.parametrize("name", ["report", "three"])
def test_tables_are_whole_on_a_phone(chromium: Browser, name: str, request: pytest.FixtureRequest) -> None:
    file = request.getfixturevalue(name)
    file = file if file.is_file() else file / "report.html"
    with open_page(chromium, file, viewport={"width": 390, "height": 844}, bypass_csp=True) as result:
        page = result.page
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        beyond = """place => [...place.querySelectorAll("tbody th, tbody td")].filter(cell => {
            const box = cell.getBoundingClientRect();
            return box.width && (box.right > 391 || box.left < 0);
        }).length"""
        tables = page.locator("main .scroll, table.forest").all()
        assert len(tables) > 10
        assert [place.evaluate(beyond) for place in tables] == [0] * len(tables)
        row = page.locator("#row-forging-cdfForgerStart")
        assert (
            row.locator("td:visible").first.evaluate("cell => getComputedStyle(cell, '::before').content")
            == '"baseline"'
        )
        assert list_accessibility_problems(page) == []


# The panel


def test_panel_is_beside_its_row(chromium: Browser, report: Path) -> None:
    with open_page(chromium, report / "report.html") as result:
        page = result.page
        row = page.locator("#row-forging-cdfForgerSend")
        link = row.locator("td a.value").first
        row.evaluate("row => scrollTo(0, row.getBoundingClientRect().top + scrollY - 400)")
        before = row.bounding_box()
        link.click()
        panel, after = page.locator("dialog").bounding_box(), row.bounding_box()
        assert before
        assert panel
        assert after
        assert after["x"] + after["width"] <= panel["x"]
        assert after["y"] == pytest.approx(before["y"], abs=2)
        page.locator("#row-forging-cdfForgerLead td a.value").first.click()  # the page is not blocked
        expect(page.locator("#definition-name")).to_have_text("Leadership check duration")
        assert page.locator("tr.explained").get_attribute("id") == "row-forging-cdfForgerLead"
        page.keyboard.press("Escape")
        expect(page.locator("dialog")).not_to_be_visible()
        assert page.evaluate("document.activeElement.closest('tr').id") == "row-forging-cdfForgerLead"
        assert page.locator("tr.explained").count() == 0


def test_panel_of_a_phone_is_below_its_row(chromium: Browser, report: Path) -> None:
    with open_page(chromium, report / "report.html", viewport={"width": 390, "height": 844}) as result:
        page = result.page
        for name in ("cdfForgerSend", "cdfForgerStart"):
            row = page.locator(f"#row-forging-{name}")
            row.locator("td a.value").first.click()
            panel, box = page.locator("dialog").bounding_box(), row.locator("td").first.bounding_box()
            assert panel
            assert box
            assert box["y"] >= 0
            assert box["y"] + box["height"] <= panel["y"]
            page.get_by_role("button", name="Close").click()


# Tooltips


def test_tooltip_of_a_number_has_unit_and_other_runs(opened: OpenPage, report: Path) -> None:
    link = opened.page.locator("#row-forging-cdfForgerSend td a.value").first
    link.hover()
    document = json.loads((report / "document.json").read_text(encoding="utf-8"))
    (row,) = (
        row
        for section in list_sections(document)
        for metric, row in zip(section["metrics"], section["rows"], strict=True)
        if metric == "cdfForgerSend"
    )
    title = f"Forged to sending\nbaseline: {row[1]} ms\ncandidate: {row[2]} ms"
    assert link.get_attribute("title") == title


def test_tooltip_of_a_point_has_unit_and_other_runs(opened: OpenPage, report: Path) -> None:
    page = opened.page
    place = page.locator('.drawing[data-chart="cdf0.50"]')
    place.scroll_into_view_if_needed()
    place.locator("svg g.mark-symbol path").nth(8).hover(force=True)
    tooltip = page.locator("#vg-tooltip-element.visible")
    expect(tooltip).to_be_visible()
    names = [text.strip() for text in tooltip.locator("td.key").all_text_contents()]
    values = dict(zip(names, tooltip.locator("td.value").all_text_contents(), strict=True))
    document = json.loads((report / "document.json").read_text(encoding="utf-8"))
    (chart,) = (chart for chart in list_charts(document) if chart["id"] == "cdf0.50")
    points = {
        line["run"]: value
        for line in chart["series"]
        for value, centile, *_ in line["points"]
        if centile == pytest.approx(float(values["share of samples"]))
    }
    run = values["run"]
    (other,) = {"baseline", "candidate"} - {run}
    assert set(values) == {"run", "value", "share of samples", f"in {other}"}
    assert values["value"] == f"{points[run]:.6g} {chart['unit']}"
    assert values[f"in {other}"] == f"{points[other]:.6g} {chart['unit']}"
    page.mouse.move(0, 0)
