"""Words from right to left: isolated, so that numbers beside them keep their order in a browser and elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from assay.util.bidi import isolate_page, isolate_words

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
