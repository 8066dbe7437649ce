"""`assay site`: three months of nights as pages that open without a server."""

from __future__ import annotations

import random
import re
from datetime import date, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from assay.registry.model import compute_id, dump_content
from tests.support.browser import list_accessibility_problems, open_page
from tests.support.commands import run_assay

NIGHTS = 90
EXTENT = "() => [document.documentElement.scrollWidth, innerWidth]"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Write the site of 90 nights: `work` becomes slower, `response_size` smaller, `slow/drift` rises steadily.

    `codec` becomes slower, which is accepted as soon as it is found; the machine changes between two runs of a commit.
    """
    place = tmp_path_factory.mktemp("site") / "shop"
    assert run_assay("init", place).status == 0
    noise = random.Random(1)
    for night in range(NIGHTS):
        averages = {
            "wait": 10.0,
            "work": 20.0 * (1.08 if night >= 60 else 1),
            "response_size": 300.0 * (0.9 if night >= 30 else 1),
            "slow/drift": 40.0 * (1 + 0.002 * night),
            "codec": 30.0 * (1.1 if night >= 50 else 1),
            "machine": 50.0 * (1.2 if night >= 45 else 1),
        }
        record_night(place / "results", night, {name: value * noise.gauss(1, 0.01) for name, value in averages.items()})
        if night == 53:
            edit = ("shifts", "accept", "codec", "--reason", "the new codec", "--author", "Ann", "--results", "results")
            assert run_assay(*edit, cwd=place).status == 0
    for name in ("night-45", "night-46"):
        assert run_assay("runs", "add", name, "--commit", "5f3c2a1", "--results", "results", cwd=place).status == 0
    for night in range(70, NIGHTS):
        words = ("--name", f"night-{night + 1:02d}", "--tag", "new", "--results", "results")
        assert run_assay("runs", "add", f"night-{night + 1:02d}", *words, cwd=place).status == 0
    result = run_assay("site", "--results", "results", "-o", "site", cwd=place)
    assert (result.status, result.out) == (0, "site/index.html\n")
    return (place / "site" / "index.html").as_uri()


def record_night(folder: Path, night: int, averages: dict[str, float]) -> None:
    """Record made-up results of a night."""
    metrics = {
        name: {"name": f"Metric {name}", "unit": "ms", "definition": "d" * 64, "size": 10, "average": value}
        for name, value in averages.items()
    }
    content = {
        "format": 1, "run": f"night-{night + 1:02d}", "day": str(date(2026, 1, 1) + timedelta(night)),
        "report": "service/comparison", "summary": "requests", "assay": "0.3.0", "data": f"logs of {night}",
        "metrics": metrics,
    }  # fmt: skip
    file = folder / "figures" / str(content["run"]) / f"{compute_id(content)}.json"
    file.parent.mkdir(parents=True)
    file.write_text(dump_content(content), encoding="utf-8")


def list_rows(page: Page) -> list[tuple[str, str, str]]:
    """Return the name, state and change of the visible metrics."""
    rows = page.locator("#overview tbody tr:visible").all()
    return [
        (row.locator("a").inner_text(), *(row.locator("td").nth(index).inner_text() for index in (0, 1)))
        for row in rows
    ]


def test_metrics_are_in_the_order_of_their_states_and_filtered(chromium: Browser, site: str) -> None:
    with open_page(chromium, site) as result:
        page = result.page
        rows = list_rows(page)
        note = page.locator("#overview td small").inner_text()
        assert re.fullmatch(r"by Ann on 20..-..-..: the new codec", note)
        assert [(name, state.partition("\n")[0]) for name, state, _ in rows] == [
            ("Metric work", "worse"),
            ("Metric slow/drift", "drift: changed"),
            ("Metric response_size", "changed"),
            ("Metric machine", "environment"),
            ("Metric codec", "accepted"),
            ("Metric wait", "no level shift"),
        ]
        assert page.locator("#overview tbody tr").first.locator("td").nth(3).inner_text() == "night-61, 2026-03-02"
        page.get_by_label("State").select_option("changed")
        assert [row[0] for row in list_rows(page)] == ["Metric slow/drift", "Metric response_size"]
        page.get_by_label("Search").fill("SIZE")
        expect(page).to_have_url(f"{site}#words=SIZE&state=changed")
        page.reload()
        expect(page.locator("#found")).to_have_text("1 metric")
        page.get_by_label("State").select_option("all")
        page.get_by_label("Search").fill("")
        page.get_by_label("Tag").select_option("new")
        assert ("Metric codec", "no level shift", "") in list_rows(page)
        assert "worse" not in [state for _, state, _ in list_rows(page)]
        assert result.messages == []


def test_metric_has_a_page_with_its_chart(chromium: Browser, site: str) -> None:
    with open_page(chromium, site) as result:
        page = result.page
        page.get_by_role("link", name="Metric slow/drift").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Metric slow/drift (slow/drift) in ms")
        assert page.locator(".shift").inner_text().startswith("Drift from night-01 to night-90: ")
        assert page.locator(".chart .mark-symbol path").count() == NIGHTS
        page.get_by_role("link", name="Metrics over time").last.click()
        expect(page.locator("#found")).to_have_text("6 metrics")
        assert result.messages == []


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light")])
def test_first_page_is_accessible_and_fits(chromium: Browser, site: str, width: int, scheme: str) -> None:
    viewport = {"width": width, "height": 900}
    with open_page(chromium, site, viewport=viewport, color_scheme=scheme) as result:
        assert list_accessibility_problems(result.page) == []
        content_width, window_width = result.page.evaluate(EXTENT)
        assert content_width <= window_width


def test_folder_with_other_files_stays(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    result = run_assay("site", "--results", tmp_path / "results", "-o", tmp_path)
    assert (result.status, "the output folder has files that no build wrote" in result.err) == (2, True)


def test_folder_without_results_is_an_error(tmp_path: Path) -> None:
    result = run_assay("site", "--results", tmp_path / "absent", "-o", tmp_path / "site")
    assert (result.status, result.err.splitlines()[0]) == (
        2, f"error[no-results]: no results are recorded in {tmp_path / 'absent'}",
    )  # fmt: skip
    assert not (tmp_path / "site").exists()
