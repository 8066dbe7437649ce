"""Isolate words that are written from right to left, so that they do not reorder the numbers beside them."""

from __future__ import annotations

import re

#: blocks of scripts that are written from right to left, with their presentation forms; `page.js` has them, too
LETTERS = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\U00010800-\U00010fff\U0001e800-\U0001efff"
#: words that follow each other; a digit or a sign between them may be a number of the report
_WORDS = re.compile(f"[{LETTERS}](?:[ '_-]*[{LETTERS}])*")
_LETTER = re.compile(f"[{LETTERS}]")
_ISOLATE, _END = "\u2068", "\u2069"
#: what is no text of a page: tags, scripts and styles
_MARKUP = re.compile(r"(<script\b.*?</script>|<style\b.*?</style>|<[^<>]*>)", re.S)


def isolate_words(text: str) -> str:
    """Return a text whose words from right to left are isolated (U+2068, U+2069): what is around keeps its order.

    Without isolation, the bidirectional algorithm of Unicode shows `NAME 20.2 → 23.4` as `23.4 ← 20.2 NAME`.
    """
    return text if text.isascii() else _WORDS.sub(rf"{_ISOLATE}\g<0>{_END}", text)


def isolate_page(page: str) -> str:
    """Return a web page with isolated words, but not in tags, scripts and styles."""
    if page.isascii() or not _LETTER.search(page):
        return page
    pieces = _MARKUP.split(page)
    pieces[::2] = map(isolate_words, pieces[::2])
    return "".join(pieces)
