"""Render prose: its blocks as they are shown, with the texts of its quotes and their places."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from assay.report.formatted_text import BULLETS, CODE, NUMBERS, Phrase, TextBlock
from assay.report.prose_markup import QUOTE, SourceBlock, SourcePhrase, parse_markup
from assay.util.escape import normalize_text

#: what a quote in a text is: of a result, or of cells
AnyQuote = TypeVar("AnyQuote")
QuoteSpan = tuple[int, int, AnyQuote]
"""The range of characters of a quote in a paragraph, and the quote."""


@dataclass(frozen=True, slots=True)
class RenderedProse(Generic[AnyQuote]):
    """The blocks of prose as they are shown, and the quotes in each of their leaves."""

    blocks: tuple[TextBlock, ...]
    quote_spans: tuple[tuple[QuoteSpan[AnyQuote], ...], ...]


def render_prose_text(
    text: str, quotes: Iterable[AnyQuote], render_quote: Callable[[AnyQuote], str | None]
) -> RenderedProse[AnyQuote]:
    """Return a text with rendered quotes, without paragraphs and items with a quote that has no text."""
    renderer = _ProseRenderer(iter(quotes), render_quote)
    blocks = renderer.render_blocks(parse_markup(text).blocks)
    return RenderedProse(blocks, tuple(renderer.quote_spans))


class _ProseRenderer(Generic[AnyQuote]):
    """The conversion of prose as it is written to what is shown; `quote_spans` grows with each leaf."""

    def __init__(self, quotes: Iterator[AnyQuote], render_quote: Callable[[AnyQuote], str | None]) -> None:
        self.quotes = quotes
        self.render_quote = render_quote
        self.quote_spans: list[tuple[QuoteSpan[AnyQuote], ...]] = []

    def render_blocks(self, blocks: Sequence[SourceBlock]) -> tuple[TextBlock, ...]:
        """Return blocks with their quotes replaced, without those that quote a choice for which the run has no row."""
        rendered_blocks = []
        for block in blocks:
            if block.kind in (BULLETS, NUMBERS):
                items = tuple(filter(None, [self.render_blocks(item) for item in block.items]))
                rendered_blocks += [TextBlock(block.kind, items=items, start=block.start)] if items else []
            else:
                phrases, quote_spans = _LeafRenderer(self.quotes, self.render_quote).render(block)
                if phrases:
                    self.quote_spans.append(quote_spans)
                    rendered_blocks.append(TextBlock(block.kind, phrases))
        return tuple(rendered_blocks)


class _LeafRenderer(Generic[AnyQuote]):
    """The conversion of a paragraph or code block: white space is joined, quotes are replaced by their texts."""

    def __init__(self, quotes: Iterator[AnyQuote], render_quote: Callable[[AnyQuote], str | None]) -> None:
        self.quotes = quotes
        self.render_quote = render_quote
        self.text = ""
        self.quote_spans: list[QuoteSpan[AnyQuote]] = []
        self.is_complete = True

    def render(self, block: SourceBlock) -> tuple[tuple[Phrase, ...], tuple[QuoteSpan[AnyQuote], ...]]:
        """Return the phrases and quotes of a block; no phrases if a quote has no text."""
        phrases = self._render_phrases(block.phrases)
        if not self.is_complete:
            return (), ()
        return (phrases if block.kind == CODE else _strip_end(phrases)), tuple(self.quote_spans)

    def _render_phrases(self, phrases: Sequence[SourcePhrase]) -> tuple[Phrase, ...]:
        rendered_phrases: list[Phrase] = []
        for phrase in phrases:
            if phrase.phrases:
                inner = self._render_phrases(phrase.phrases)
                rendered_phrases += [Phrase("", phrase.form, phrase.link, inner)] if inner else []
                continue
            form = CODE if phrase.form == CODE else ""
            words = self._render_words(phrase)
            if words and not form and rendered_phrases and not rendered_phrases[-1].form:
                words = rendered_phrases.pop().words + words
            rendered_phrases += [Phrase(words, form)] if words else []
        return tuple(rendered_phrases)

    def _render_words(self, phrase: SourcePhrase) -> str:
        """Return the words of a phrase as they are shown, and append them to the text."""
        begin, words = len(self.text), phrase.words
        if phrase.form == QUOTE:
            quote = next(self.quotes)
            answer = self.render_quote(quote)
            self.is_complete = self.is_complete and answer is not None
            words = normalize_text(join_words(answer or ""))
            self.quote_spans += [(begin, begin + len(words), quote)] if words else []
        elif phrase.form == CODE:
            words = normalize_text(words)
        else:
            words = normalize_text(re.sub(r"\s+", " ", words))
            words = words.removeprefix(" ") if self.text[-1:] in ("", " ") else words
        self.text += words
        return words


def _strip_end(phrases: tuple[Phrase, ...]) -> tuple[Phrase, ...]:
    """Return phrases without the blank at their end."""
    if not phrases or phrases[-1].form == CODE:
        return phrases
    *others, last = phrases
    if last.phrases:
        inner = _strip_end(last.phrases)
        return (*others, replace(last, phrases=inner)) if inner else tuple(others)
    words = last.words.removesuffix(" ")
    return (*others, replace(last, words=words)) if words else tuple(others)


def join_words(text: str) -> str:
    """Return a text in one line, with single blanks."""
    return " ".join(text.split())
