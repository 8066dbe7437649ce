"""The page of `assay watch --serve`: it follows each build, and shows the errors of the last one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.support.browser import list_accessibility_problems
from tests.support.commands import run_assay
from tests.support.local_sites import LocalSite, serve
from tests.support.workspaces import edit_file

PATIENCE = 60_000  # ms
METRICS = "specs/service/metrics.dhall"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Create a workspace."""
    assert run_assay("init", tmp_path / "shop").status == 0
    return tmp_path / "shop"


@pytest.fixture
def site(shop: Path, cache: Path) -> Iterator[LocalSite]:
    """Watch its report, and serve it."""
    runs = ("--run", "runs/1.0", "--run", "runs/1.1")
    words = ("watch", "service/comparison", *runs, "-o", "build/live", "--to", "html", "--serve", "--port", "0")
    with serve("--cache", cache, *words, cwd=shop) as running:
        yield running


def test_page_follows_the_builds(chromium: Browser, site: LocalSite, shop: Path) -> None:
    page = chromium.new_page(viewport={"width": 1000, "height": 600}, reduced_motion="reduce")
    messages: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.goto(site.url)
    report = page.frame_locator("#report")
    expect(report.get_by_text("Working time").first).to_be_visible(timeout=PATIENCE)
    report.locator("html.complete").wait_for(state="attached")
    frame = page.frames[1]
    frame.evaluate("scrollTo(0, 1500)")
    place = frame.evaluate("scrollY")
    assert place > 1000

    edit_file(shop / METRICS, '"Working time"', '"Time of work"')
    expect(report.get_by_text("Time of work").first).to_be_attached(timeout=PATIENCE)
    page.wait_for_function("place => Math.abs(frames[0].scrollY - place) < 40", arg=place)

    edit_file(shop / METRICS, "e.sent", "e.sendt")
    problem = page.get_by_role("alert")
    expect(problem).to_be_visible(timeout=PATIENCE)
    expect(problem.locator("pre")).to_contain_text("specs/service/metrics.dhall:")
    expect(report.get_by_text("Time of work").first).to_be_attached()
    assert list_accessibility_problems(page) == []

    edit_file(shop / METRICS, "e.sendt", "e.sent")
    expect(problem).to_be_hidden(timeout=PATIENCE)
    expect(report.get_by_text("Time of work").first).to_be_attached()
    assert messages == []
    page.close()


def test_only_the_report_is_served(site: LocalSite) -> None:
    for path in ("/report/provenance.json", "/report/../assay.toml", "/report/specs.json", "/report/", "/x"):
        assert site.request(path).status == 404
    assert site.request("/events", Host="example.org").status == 421
    assert site.request("/", "POST").status == 405
