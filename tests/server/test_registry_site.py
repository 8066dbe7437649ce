"""The site of `assay serve` in a browser: runs, comparisons, histories, the catalogue, and errors of specs."""

from __future__ import annotations

import json
import random
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from assay.registry.model import compute_id, dump_content
from assay.server.registry_site import choose_pair
from tests.support.browser import list_accessibility_problems, open_page
from tests.support.commands import run_assay
from tests.support.local_sites import LocalSite, serve
from tests.support.workspaces import edit_file

SETTINGS = 'results = "results"\nreport = "service/comparison"\n'
REPORT = "builds/service/comparison/v1.0/v1.1/report.html"
EXTENT = "() => [document.documentElement.scrollWidth, innerWidth]"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a workspace with two registered runs, and recorded results of 14 nights whose last five are slower."""
    place = tmp_path_factory.mktemp("serve") / "shop"
    assert run_assay("init", place).status == 0
    (place / "assay.toml").write_text(SETTINGS, encoding="utf-8")
    for name, tag in (("v1.0", "release"), ("v1.1", "candidate")):
        words = ("--name", name, "--tag", tag, "--commit", "5f3c2a1d9b")
        assert run_assay("runs", "add", f"runs/{name[1:]}", *words, cwd=place).status == 0
    noise = random.Random(1)
    for night in range(14):
        record_night(place / "results", night, (12 if night >= 9 else 10) + noise.gauss(0, 0.1))
    return place


def record_night(folder: Path, night: int, value: float) -> None:
    """Record made-up results of a night: the metric `wait` with an average in ms."""
    figures = {"name": "Waiting time", "unit": "ms", "definition": "d" * 64, "size": 10, "average": value}
    content = {
        "format": 1, "run": f"night-{night + 1:02d}", "day": f"2026-03-{night + 1:02d}", "report": "service/comparison",
        "summary": "requests", "assay": "0.2.0", "data": f"logs of {night}", "metrics": {"wait": figures},
    }  # fmt: skip
    file = folder / "figures" / str(content["run"]) / f"{compute_id(content)}.json"
    file.parent.mkdir(parents=True)
    file.write_text(dump_content(content), encoding="utf-8")


@pytest.fixture(scope="module")
def site(shop: Path, cache: Path) -> Iterator[LocalSite]:
    """Serve the workspace."""
    with serve("--cache", cache, "serve", "--port", "0", cwd=shop) as running:
        yield running


@pytest.mark.parametrize(
    ("baseline", "pair"),
    [("1.0", ("1.0", "1.1")), ("", ("1.1", "v1.0")), ("last:release", ("1.1", "v1.0")), ("1.1", ("1.1", "v1.0"))],
)
def test_two_runs_with_other_logs_are_preselected(baseline: str, pair: tuple[str, str]) -> None:
    places = {"v1.0": ["runs/1.0"], "1.0": ["./runs/1.0", "runs/1.0-2"], "1.1": ["runs/1.1"]}
    assert choose_pair(places, baseline) == pair
    assert choose_pair({"v1.0": ["runs/1.0"], "a": ["runs/1.0"]}, baseline) == ("a", "v1.0")
    assert choose_pair({}, baseline) == ("", "")


def test_two_chosen_runs_are_compared(chromium: Browser, site: LocalSite, shop: Path, tmp_path: Path) -> None:
    with open_page(chromium, f"{site.url}runs") as result:
        page = result.page
        row = page.locator("#runs tbody tr").filter(has=page.get_by_role("rowheader", name="v1.1"))
        assert row.locator("td").all_inner_texts() == ["–", "candidate", "5f3c2a1d9b", "", "none", "runs/1.1"]
        assert page.locator("#runs tbody th").first.inner_text() == "night-14"
        page.get_by_label("Baseline").select_option("v1.0")
        page.get_by_label("Run", exact=True).select_option("v1.1")
        page.get_by_role("button", name="Compare").press("Enter")
        heading = page.get_by_role("heading", level=1)
        expect(heading).to_have_text("v1.1 against v1.0", timeout=60_000)  # the page of progress reloads by itself
        assert page.url == site.url + REPORT
        page.wait_for_selector("html.complete", state="attached")
        assert result.messages == []
        assert all(address.startswith((site.url, "data:", "blob:")) for address in result.requests)
    words = ("--run", "v1.0", "--run", "v1.1", "--to", "html", "-o", tmp_path, "--no-results")
    assert run_assay("build", *words, cwd=shop).status == 0
    assert site.request(f"/{REPORT}").body == (tmp_path / "report.html").read_bytes()
    assert not list(shop.glob("results/figures/*1.0"))


def test_level_shift_is_in_chart_and_table(chromium: Browser, site: LocalSite) -> None:
    with open_page(chromium, site.url) as result:
        page = result.page
        row = page.locator("#overview tbody tr")
        assert row.locator("td").all_inner_texts() == [
            "worse", "+20", "", "night-10, 2026-03-10", "12.0 ms", "service"
        ]  # fmt: skip
        page.get_by_role("link", name="Waiting time").click()
        page.wait_for_selector("html.complete", state="attached")
        assert page.locator(".shift").inner_text().startswith("Level shift at night-10: 9.")
        assert page.locator(".chart .mark-symbol path").count() == 14
        assert "+20 %" in page.locator(".chart .role-mark text").all_text_contents()
        row = page.locator("tbody tr").nth(9)
        assert row.locator("th").inner_text() == "night-10"
        assert row.locator("td.worse").inner_text() == "▲ worse"
        page.get_by_label("Last runs").fill("3")
        page.get_by_role("button", name="Show").click()
        expect(page.locator("tbody tr")).to_have_count(3)
        expect(page.get_by_text("No level shift.")).to_be_visible()
        assert result.messages == []


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light")])
def test_pages_are_accessible_and_fit(chromium: Browser, site: LocalSite, width: int, scheme: str) -> None:
    for path in ("", "runs", "history/service/wait"):
        viewport = {"width": width, "height": 900}
        with open_page(chromium, site.url + path, viewport=viewport, color_scheme=scheme) as result:
            assert list_accessibility_problems(result.page) == []
            content_width, window_width = result.page.evaluate(EXTENT)
            assert content_width <= window_width
            assert result.messages == []


def test_catalogue_is_part_of_the_site(chromium: Browser, site: LocalSite) -> None:
    with open_page(chromium, f"{site.url}history/service/wait") as result:
        page = result.page
        page.get_by_role("link", name="Definition of the metric").click()
        expect(page.locator("#index tbody tr:visible")).to_have_count(1, timeout=60_000)
        page.get_by_role("link", name="Waiting time").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Waiting time, ms")
        assert page.url == f"{site.url}metrics/pages/service/metrics/wait.html"


def test_errors_of_specs_are_those_of_the_terminal(site: LocalSite, shop: Path) -> None:
    metrics = shop / "specs/service/metrics.dhall"
    text = metrics.read_text(encoding="utf-8")
    edit_file(metrics, "e.sent", "e.sendt")
    try:
        terminal = run_assay("check", cwd=shop).err.strip()
        assert terminal.startswith("error[")
        for path in ("/runs", f"/{REPORT}"):
            answer = site.request(path)
            page = re.sub(r"&#(\d+);", lambda match: chr(int(match[1])), answer.text)
            page = page.replace("&lt;", "<").replace("&gt;", ">")
            assert terminal in page
        assert answer.status == 500
    finally:
        metrics.write_text(text, encoding="utf-8")
    assert site.request("/").status == 200


def test_failed_build_shows_its_problem(site: LocalSite) -> None:
    while (answer := site.request("/builds/service/comparison/v1.0/v1.0/report.html")).status == 202:
        assert '<meta http-equiv="refresh" content="1">' in answer.text
    assert answer.status == 500
    assert "error[run-name]: duplicate run: " in answer.text


def test_changed_run_is_built_again(site: LocalSite, shop: Path) -> None:
    before = request_report(site)
    (shop / "runs/1.1/meta.json").write_text(json.dumps({"version": "1.1-rebuilt"}), encoding="utf-8")
    after = request_report(site)
    assert "1.1-rebuilt" in after
    assert "1.1-rebuilt" not in before


def request_report(site: LocalSite) -> str:
    """Return the text of the comparison once it is built."""
    while (answer := site.request(f"/{REPORT}")).status == 202:
        pass
    assert answer.status == 200
    return answer.text


def test_damaged_results_are_an_error_page(site: LocalSite, shop: Path) -> None:
    file = next(shop.glob("results/figures/night-01/*.json"))
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("requests", "hosts"), encoding="utf-8")
    try:
        answer = site.request("/")
        assert answer.status == 500
        assert "error[damaged-result]: the recorded results were changed" in answer.text
    finally:
        file.write_text(text, encoding="utf-8")
    assert site.request("/").status == 200


def test_interrupt_ends_server_while_it_builds(tmp_path: Path, shop: Path) -> None:
    with serve("--cache", tmp_path / "cache", "serve", "--port", "0", cwd=shop) as running:
        assert running.request(f"/{REPORT}").status in (200, 202)
        running.process.send_signal(signal.SIGINT)
        assert running.process.wait(10) == 130
        assert running.process.stdout
        assert running.process.stdout.read().strip() == "interrupted"
