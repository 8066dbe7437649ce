"""Compare the prose of articles: the values that it quotes, and the words around them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from itertools import zip_longest

from assay.diff.changes import ReportedChange, format_unified_diff
from assay.explain.facts import Appearance
from assay.lang.model.article import Article, Part
from assay.lang.model.package import Package
from assay.report.prose import list_quotes, mark_quotes, split_paragraphs
from assay.report.run_results import add_unit

Texts = Mapping[str, Mapping[str, str]]
"""Article -> file of prose -> text."""


def compare_articles(
    old: Package, new: Package, before: Texts, after: Texts, renamed: Mapping[str, str]
) -> Iterator[tuple[str, ReportedChange]]:
    """Yield the differences in the prose of each article that exists on both sides, part by part.

    A quote of a metric in `renamed` (former id -> id) counts as unchanged.
    """
    former = {article.name: article for article in old.articles}
    for article in new.articles:
        if article.name in former and article.name in before and article.name in after:
            was, now = before[article.name], after[article.name]
            parts = {part.title: part for part in former[article.name].parts}
            for part in article.parts:
                if part.title in parts:
                    texts = was.get(parts[part.title].prose, ""), now.get(part.prose, "")
                    yield from ((article.name, item) for item in _compare_part(new, article, part, *texts, renamed))


def find_quotes(package: Package, texts: Texts, metric: str) -> tuple[Appearance, ...]:
    """Return the parts of articles whose prose quotes a metric."""
    return tuple(
        _build_appearance(package, article, part, metric)
        for article in package.articles
        for part in article.parts
        if metric in (quoted for quoted, _ in list_quotes(texts.get(article.name, {}).get(part.prose, "")))
    )


def _build_appearance(package: Package, article: Article, part: Part, metric: str) -> Appearance:
    label = next((add_unit(item.name, item.unit.symbol) for item in package.metrics if item.id == metric), metric)
    return Appearance(f"{package.system}/{article.name}", "quote", part.title, label)


def _compare_part(
    package: Package, article: Article, part: Part, before: str, after: str, renamed: Mapping[str, str]
) -> Iterator[ReportedChange]:
    was = [_rename_quote(metric, words, renamed) for metric, words in list_quotes(before)]
    now = list_quotes(after)
    matched = SequenceMatcher(None, was, [words for _, words in now], autojunk=False)
    for kind, start, end, first, last in matched.get_opcodes():
        if kind != "equal":
            for old, new in zip_longest(was[start:end], now[first:last]):
                touches = (_build_appearance(package, article, part, new[0]),) if new else ()
                yield ReportedChange("quoted value", part.title, old or "", new[1] if new else "", touches=touches)
    old_words, new_words = mark_quotes(before), mark_quotes(after)
    if split_paragraphs(old_words) != split_paragraphs(new_words):
        yield ReportedChange("wording", part.title, lines=format_unified_diff(old_words, new_words))


def _rename_quote(metric: str, words: str, renamed: Mapping[str, str]) -> str:
    """Return a quote with the current id of its metric."""
    return re.sub(re.escape(metric), lambda _: renamed[metric], words, count=1) if metric in renamed else words
