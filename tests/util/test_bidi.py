"""Words from right to left: isolated, so that numbers beside them keep their order in a browser and elsewhere."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from assay.util.bidi import LETTERS, isolate_page, isolate_words
from tests.support.browser import open_page
from tests.support.commands import run_assay
from tests.support.laboratory import ROOT
from tests.support.workspaces import edit_file

ARABIC, HEBREW, ADLAM = "وقت العمل", "זמן-עבודה", "\U0001e900\U0001e901"

#: texts; braces stand for the characters that isolate words from right to left
TEXTS = [
    f"{{{ARABIC}}}: 20.2 → 23.4 ms, +16 % worse",
    f"20.2 {{{ARABIC}}} 23.4 {{{HEBREW}}} 5",
    f"{{{HEBREW}}} (p99), {{{ADLAM}}}; {{ع}}",
    "Waiting time: 20.2 → 23.4 µs",
]


@pytest.mark.parametrize("text", TEXTS)
def test_words_from_right_to_left_are_isolated(text: str) -> None:
    plain = text.replace("{", "").replace("}", "")
    assert isolate_words(plain) == text.replace("{", "\u2068").replace("}", "\u2069")


def test_tags_scripts_and_styles_of_a_page_stay() -> None:
    page = f'<p title="{ARABIC} 1">{ARABIC}</p><script>"{ARABIC}"</script><style>/* {ARABIC} */</style>'
    assert isolate_page(page) == page.replace(f'1">{ARABIC}', f'1">\u2068{ARABIC}\u2069')


@pytest.mark.parametrize("is_isolated", [False, True])
def test_numbers_keep_their_order_in_a_browser(is_isolated: bool, chromium: Browser, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    page = f'<!doctype html><meta charset="utf-8"><p>{ARABIC}: 20.2 → 23.4 ms</p>'
    file.write_text(isolate_page(page) if is_isolated else page, encoding="utf-8")
    with chromium.new_page() as browser_page:
        browser_page.goto(file.as_uri())
        lefts = browser_page.evaluate(
            """() => ["20.2", "23.4"].map(number => {
              const node = document.querySelector("p").firstChild, range = document.createRange();
              const start = node.data.indexOf(number);
              range.setStart(node, start); range.setEnd(node, start + number.length);
              return range.getBoundingClientRect().left;
            })"""
        )
    assert (lefts[0] < lefts[1]) == is_isolated


def test_scripts_of_a_page_isolate_the_same_letters() -> None:
    text = (ROOT / "templates/html/page.js").read_text("utf-8")
    (letters,) = re.findall(r'^const letters = "(.*)";$', text, re.M)
    ranges = re.sub(r"\\\\u\{?([0-9a-f]+)\}?", lambda match: chr(int(match[1], 16)), letters)
    assert ranges == LETTERS


@pytest.fixture(scope="module")
def hebrew_report(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Build a page with a metric that has a Hebrew name."""
    shop = tmp_path_factory.mktemp("bidi") / "shop"
    shutil.copytree(ROOT / "starter", shop)
    edit_file(shop / "specs/service/metrics.dhall", "Waiting time", HEBREW)
    runs = ("--run", "runs/1.0", "--run", "runs/1.1")
    built = run_assay("build", "service/comparison", *runs, "--to", "html", "-o", "out", "--cache", cache, cwd=shop)
    assert built.status == 0, built.err
    return shop / "out" / "report.html"


def measure_lefts(page: Page, selector: str, *texts: str) -> list[float]:
    """Return how far left some texts within an element are."""
    lefts: list[float] = page.evaluate(
        """([selector, texts]) => texts.map(text => {
          const walker = document.createTreeWalker(document.querySelector(selector), NodeFilter.SHOW_TEXT);
          while (walker.nextNode()) {
            const start = walker.currentNode.data.indexOf(text);
            if (start < 0) continue;
            const range = document.createRange();
            range.setStart(walker.currentNode, start); range.setEnd(walker.currentNode, start + text.length);
            return range.getBoundingClientRect().left;
          }
          return NaN;
        })""",
        [selector, texts],
    )
    return lefts


def test_texts_that_scripts_insert_are_isolated(chromium: Browser, hebrew_report: Path) -> None:
    """The panel on a number, its tooltip, and the copied table."""
    with open_page(chromium, hebrew_report, permissions=["clipboard-read", "clipboard-write"]) as opened:
        page = opened.page
        link = page.locator('td a.value[data-metric="wait"]').first
        link.hover()
        tooltip = link.get_attribute("title") or ""
        assert tooltip.splitlines()[0] == f"\u2068{HEBREW}\u2069"
        assert all(line.endswith(" ms") for line in tooltip.splitlines()[1:])
        link.click()
        assert page.locator("#definition-name bdi").text_content() == HEBREW
        question = page.locator("#definition .asked").text_content() or ""
        name, _, number = question.partition(" — ")[2].partition(", ms: ")
        assert name == HEBREW
        word_left, number_left = measure_lefts(page, "#definition .asked", HEBREW, number)
        assert word_left < number_left
        page.locator(".copy button").first.click()
        copied = page.evaluate("navigator.clipboard.readText()")
        assert f"wait,{HEBREW}," in copied
        assert "\u2068" not in copied
