"""Notes on level shifts by the pages of `assay serve`: by clicks, and forms that are refused."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, expect

from tests.server.test_static_site import record_night
from tests.support.browser import list_accessibility_problems, open_page
from tests.support.commands import run_assay
from tests.support.local_sites import Answer, LocalSite, parse_answer, serve
from tests.support.workspaces import edit_file

PAGE = "history/service/wait"
EXTENT = "() => [document.documentElement.scrollWidth, innerWidth]"
FORM = "application/x-www-form-urlencoded"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a workspace with 20 nights, of which the last ten are slower."""
    place = tmp_path_factory.mktemp("forms") / "shop"
    assert run_assay("init", place).status == 0
    edit_file(place / "assay.toml", "baseline", 'results = "results"\nauthor = "Ann"\nbaseline')
    noise = random.Random(1)
    for night in range(20):
        record_night(place / "results", night, {"wait": (12 if night >= 10 else 10) * noise.gauss(1, 0.01)})
    return place


@pytest.fixture(scope="module")
def site(shop: Path, cache: Path) -> Iterator[LocalSite]:
    """Serve the workspace."""
    with serve("--cache", cache, "serve", "--port", "0", cwd=shop) as running:
        yield running


def test_shift_is_accepted_annotated_and_reopened_by_clicks(chromium: Browser, site: LocalSite) -> None:
    with open_page(chromium, site.url + PAGE) as result:
        page = result.page
        shift = page.locator("section.shift")
        page.get_by_text("Accept or annotate").click()
        expect(page.get_by_label("Author")).to_have_value("Ann")
        page.get_by_label("Reason").fill("TLS is <on>")
        page.get_by_role("button", name="Accept").click()
        expect(shift.locator(".remark")).to_have_text(re.compile(r"^accepted by Ann on 20..-..-..: TLS is <on>$"))
        expect(page.locator("tbody tr").nth(10).locator("td").nth(4)).to_have_text("▲ accepted")
        page.get_by_role("link", name="Metrics over time").first.click()
        state = page.locator("#overview tbody td").first
        expect(state).to_have_text(re.compile(r"^acceptedby Ann on .*: TLS is <on>$"))
        page.go_back()
        page.get_by_text("Reopen or annotate").click()
        page.get_by_label("Reason").fill("TLS is off")
        page.get_by_role("button", name="Reopen").click()
        expect(shift.locator(".remark")).to_have_count(2)
        page.get_by_text("Accept or annotate").click()
        assert list_accessibility_problems(page) == []
        assert result.messages == []


@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (390, "light"), (390, "dark")])
def test_form_is_accessible_and_fits(chromium: Browser, site: LocalSite, width: int, scheme: str) -> None:
    viewport = {"width": width, "height": 900}
    with open_page(chromium, site.url + PAGE, viewport=viewport, color_scheme=scheme) as result:
        result.page.locator(".note-form summary").click()
        assert list_accessibility_problems(result.page) == []
        content_width, window_width = result.page.evaluate(EXTENT)
        assert content_width <= window_width


def post(site: LocalSite, body: str, content_type: str = FORM, **headers: str) -> Answer:
    """Send a form to the address of notes."""
    fields = {
        "Host": f"127.0.0.1:{site.port}",
        "Content-Type": content_type,
        "Content-Length": str(len(body)),
        **{key.replace("_", "-"): text for key, text in headers.items()},
    }
    lines = ["POST /shifts HTTP/1.1", *(f"{key}: {text}" for key, text in fields.items()), "", body]
    return parse_answer(site.send("\r\n".join(lines).encode()))


def fill_form(site: LocalSite, **fields: str) -> str:
    """Return the form of the page with a remark, and with other fields."""
    match = re.search(r'name="token" value="([^"]+)"', site.request(f"/{PAGE}").text)
    assert match
    usual = {"token": match[1], "system": "service", "metric": "wait", "run": "night-11", "author": "Eve",
             "kind": "annotate", "reason": "forged"}  # fmt: skip
    return urlencode({**usual, **fields})


def list_files(shop: Path) -> list[Path]:
    return sorted(shop.glob("results/shifts/**/*"))


def test_forms_of_other_sites_are_refused(site: LocalSite, shop: Path) -> None:
    before = list_files(shop)
    form = fill_form(site)
    link = {"Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
    for headers in (
        {"Sec_Fetch_Site": "cross-site", **link},
        {"Sec_Fetch_Site": "same-site"},
        {"Origin": "https://example.org"},
        {"Origin": f"http://127.0.0.1:{site.port + 1}"},
    ):
        assert post(site, form, **headers).status == 403, headers
    assert post(site, form, Host=f"example.org:{site.port}").status == 421
    for token in ("", "x", "\u00e9"):
        assert post(site, fill_form(site, token=token)).status == 403
    assert list_files(shop) == before


def test_invalid_forms_are_refused(site: LocalSite, shop: Path) -> None:
    before = list_files(shop)
    for fields in (
        {"kind": "remove"}, {"reason": ""}, {"reason": "a\nb"}, {"author": "x" * 201}, {"run": "night-12"},
        {"metric": "../../x"}, {"system": "other"},
    ):  # fmt: skip
        assert post(site, fill_form(site, **fields)).status == 400, fields
    assert post(site, fill_form(site), content_type="text/plain").status == 400
    assert post(site, fill_form(site) + "&reason=%ff").status == 400
    assert post(site, fill_form(site), Content_Length="x").status == 411
    assert post(site, fill_form(site), Content_Length="99999999").status == 413
    assert post(site, fill_form(site) + "&a=" + "b" * 40_000).status == 413
    assert list_files(shop) == before


def test_form_leads_back_to_the_page(site: LocalSite, shop: Path) -> None:
    count = len(list_files(shop))
    answer = post(site, fill_form(site), Sec_Fetch_Site="same-origin", Origin="null")
    assert (answer.status, answer.headers["location"]) == (303, f"/{PAGE}")
    assert len(list_files(shop)) > count


def test_pages_for_other_machines_are_read_only(shop: Path, cache: Path) -> None:
    with serve("--cache", cache, "serve", "--host", "0.0.0.0", "--port", "0", cwd=shop) as running:
        assert "token" not in running.request(f"/{PAGE}").text
        assert post(running, "kind=accept").status == 405
