"""Find numbers and comparisons in edited observations that no cell is behind, and mark them as the author's own."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from assay.lang.model.observation import ObservationRules
from assay.report.formatted_text import BULLETS, NUMBERS, Phrase, TextBlock, list_leaves
from assay.report.observations.cell_quotes import (
    CellQuote,
    EditedProse,
    parse_prose,
    render_cells,
)
from assay.report.observations.check_prose import compile_words, list_sentences
from assay.report.observations.printed_changes import Changes
from assay.report.prose import QuoteSpan, RenderedProse
from assay.util.diagnostics import Diagnostic, Span, format_excerpt

#: follows what is the author's own
MARK = "†"
NOTE = f"{MARK} The author's own number or comparison: it quotes no cell of the tables."
_CODE = "prose-unquoted"
#: a number with its unit, if it has one; no part of a version, date, address or name
_NUMBER = re.compile(
    r"(?<![\w.,:/#+-])[+\-−]?\d+(?:[.,]\d+)*(?![\w:/-]|\.\d)(?:\s?(?:%|(?!(?:of|to|in|and|or|as|at|by|per|for|are|is|was|out|on|new|old)\b)"
    r"[^\W\d_]{1,3}(?:/[^\W\d_]+)?(?!\w)))?"
)
_VERSION = re.compile(r"\d+\.\d+\.\d")
_MULTIPLE = re.compile(
    r"(?<!\w)(?:twice|thrice|half|halve[sd]?|doubl(?:e[sd]?|ing)|tripl(?:e[sd]?|ing)|quadrupl(?:e[sd]?|ing)"
    r"|(?:two|three|four|five|six|seven|eight|nine|ten|hundred)(?: times|-?fold))(?!\w)",
    re.I,
)
_COMPARISON = re.compile(
    r"(?<!\w)(?:better|best|worse|worst|unchanged|no change|regress\w*|improv\w+|(?:more|less|fewer) than|the same as"
    r"|exceed\w*|equal to)(?!\w)",
    re.I,
)
#: words for a direction that compare only before `than`
_WEAK_WORDS = ("more", "less", "fewer", "longer", "shorter")


class UnquotedFinder:
    """Finds numbers and comparisons by the words of the rules; names of metrics and runs are no claims."""

    def __init__(self, rules: ObservationRules, changes: Changes, drafted: str = "") -> None:
        """`drafted` is text that a draft would have now: its sentences are backed by verdicts."""
        names = {item.name for items in changes.values() for item in items.values()}
        names |= {name for place in changes for name in (place.case, place.base, place.run)}
        self.names = compile_words(filter(None, names))
        words = {word for word in (*rules.up, *rules.down) if word not in _WEAK_WORDS}
        self.patterns = (_NUMBER, _MULTIPLE, _COMPARISON, compile_words(words))
        leaves = list_leaves(render_cells(parse_prose(drafted, "", changes, []), changes).blocks)
        self.drafted_sentences = {leaf.text[a:b].strip() for leaf in leaves for a, b in list_sentences(leaf.text)}

    def find_in_leaf(self, text: str, quote_spans: Collection[QuoteSpan[CellQuote]]) -> list[tuple[int, int]]:
        """Return where a paragraph claims something without a quote: characters from the first to after the last.

        A number is a claim anywhere, a comparison only in a sentence without a quote: quotes have directions.
        """
        claims: list[tuple[int, int]] = []
        for begin, end in list_sentences(text):
            sentence = text[begin:end]
            if sentence.strip() not in self.drafted_sentences:
                quotes = [(a, b) for a, b, _ in quote_spans if begin <= a < end]
                patterns = self.patterns[:2] if quotes else self.patterns
                covered = [*quotes, *((begin + m.start(), begin + m.end()) for m in self.names.finditer(sentence))]
                claims += _find_ranges(sentence, begin, patterns, covered)
        return claims


def _find_ranges(
    sentence: str, begin: int, patterns: Sequence[re.Pattern[str]], covered: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Yield the matches of patterns in a sentence that overlap neither a covered range nor one before them."""
    last = 0
    matches = (match for pattern in patterns for match in pattern.finditer(sentence))
    for match in sorted(matches, key=lambda item: (item.start(), -item.end())):
        first, end = begin + match.start(), begin + match.end()
        if first < last or _VERSION.search(match[0]) or any(a < end and first < b for a, b in covered):
            continue
        last = end
        yield first, end


def describe_unquoted(count: int) -> str:
    """Return how many claims there are, in words."""
    return "1 number or comparison" if count == 1 else f"{count} numbers or comparisons"


def find_unquoted(prose: EditedProse, finder: UnquotedFinder, changes: Changes) -> tuple[Diagnostic, ...]:
    """Return the claims of a text that quote no cell, as warnings with their places."""
    rendered = render_cells(prose, changes)
    problems, position = [], 0
    for leaf, spans in zip(list_leaves(rendered.blocks), rendered.quote_spans, strict=True):
        for begin, end in finder.find_in_leaf(leaf.text, spans):
            claim = leaf.text[begin:end]
            match = _locate(claim, prose.text, position)
            position = match.end() if match else position
            problems.append(_create_problem(prose, claim, match))
    return tuple(problems)


def _create_problem(prose: EditedProse, claim: str, match: re.Match[str] | None) -> Diagnostic:
    message = f"`{claim}` quotes no cell"
    if match is None:
        return Diagnostic(_CODE, message, Span(prose.name), severity="warning")
    before = prose.text[: match.start()]
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    excerpt = format_excerpt(prose.text.splitlines(), line, column, len(claim))
    span = Span(prose.name, line, column, len(claim))
    return Diagnostic(_CODE, message, span, excerpt, severity="warning")


def _locate(claim: str, text: str, position: int) -> re.Match[str] | None:
    """Return the first match of a claim in the source of a text from a position on, outside of quotes."""
    words = r"[\s*_]+".join(map(re.escape, claim.split()))
    return re.compile(rf"(?<![\w.,:/#-]){words}(?![\w:/-]|\.\d|[^{{}}]*\}}\}})").search(text, position)


def mark_unquoted(rendered: RenderedProse[CellQuote], finder: UnquotedFinder) -> tuple[RenderedProse[CellQuote], int]:
    """Return prose with a mark behind each claim that quotes no cell and a note on it, and the number of marks."""
    leaves, span_lists, count = [], [], 0
    for leaf, spans in zip(list_leaves(rendered.blocks), rendered.quote_spans, strict=True):
        ends = [end for _, end in finder.find_in_leaf(leaf.text, spans)]
        leaves.append(replace(leaf, phrases=_insert_marks(leaf.phrases, ends)))
        span_lists.append(tuple((_shift(a, ends), _shift(b, ends), quote) for a, b, quote in spans))
        count += len(ends)
    if not count:
        return rendered, 0
    blocks = _replace_leaves(rendered.blocks, iter(leaves))
    return RenderedProse((*blocks, TextBlock(phrases=(Phrase(NOTE),))), (*span_lists, ())), count


def _shift(position: int, ends: Sequence[int]) -> int:
    return position + sum(end <= position for end in ends) * len(MARK)


def _insert_marks(phrases: Sequence[Phrase], ends: Sequence[int], begin: int = 0) -> tuple[Phrase, ...]:
    """Return phrases, which begin at a character of their leaf, with a mark behind the last character of each claim."""
    marked = []
    for phrase in phrases:
        words = phrase.words
        for end in sorted((end - begin for end in ends if begin < end <= begin + len(phrase.words)), reverse=True):
            words = f"{words[:end]}{MARK}{words[end:]}"
        inner = _insert_marks(phrase.phrases, ends, begin + len(phrase.words))
        marked.append(replace(phrase, words=words, phrases=inner))
        begin += sum(map(len, phrase.iter_words()))
    return tuple(marked)


def _replace_leaves(blocks: Sequence[TextBlock], leaves: Iterator[TextBlock]) -> tuple[TextBlock, ...]:
    return tuple(
        replace(block, items=tuple(_replace_leaves(item, leaves) for item in block.items))
        if block.kind in (BULLETS, NUMBERS)
        else next(leaves)
        for block in blocks
    )
