"""Find numbers in prose that no quote is behind, and mark them as the author's own."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from assay.report.formatted_text import BULLETS, CODE, LINK, NUMBERS, Phrase, TextBlock, list_leaves
from assay.report.prose_markup import QUOTE_PATTERN
from assay.report.rendered_prose import AnyQuote, QuoteSpan, RenderedProse
from assay.util.diagnostics import Diagnostic, Span, format_excerpt

#: follows what is the author's own
MARK = "†"
NOTE = f"{MARK} The author's own number: the report does not compute it."
MESSAGE = "`{claim}` is no quote: a report marks it as the author's"
_CODE = "prose-unquoted"
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)")
#: a number with its unit, if it has one; no part of a version, date, address or name
_NUMBER = re.compile(
    r"(?<![\w.,:/#+-])[+\-−]?\d+(?:[.,]\d+)*(?![\w:/-]|\.\d)(?P<unit>\s?(?:%|(?!(?:of|to|in|and|or|as|at|by|per|for|are|is|was|out|on|new|old)\b)"
    r"[^\W\d_]{1,3}(?:/[^\W\d_]+)?(?!\w)))?"
)
_MULTIPLE = re.compile(
    r"(?<!\w)(?:twice|thrice|half|halve[sd]?|doubl(?:e[sd]?|ing)|tripl(?:e[sd]?|ing)|quadrupl(?:e[sd]?|ing)"
    r"|(?:two|three|four|five|six|seven|eight|nine|ten|hundred)(?: times|-?fold)|\d+(?:\.\d+)?[x×])(?!\w)",
    re.I,
)
#: kinds of claims anywhere in a text
NUMBER_PATTERNS = (_NUMBER, _MULTIPLE)
_VERSION = re.compile(r"\d+\.\d+\.\d")
_MONTH = (
    "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    "|Nov(?:ember)?|Dec(?:ember)?)"
)
_DATE = re.compile(rf"(?<!\w)(?:\d{{1,2}}\.? )?{_MONTH}\.?(?: \d{{1,2}}(?!\d),?)?(?: \d{{4}})?(?!\w)")
#: numbers without a unit that are no amounts: years, the numbers of figures and nodes, names of products
_ORDINALS = (
    re.compile(
        r"(?<!\w)(?i:in|since|until|before|after|during|year|edition|(?:the|a)) (?:19|20)\d\d"
        r"(?=\s*(?:$|[.,;:)!?–](?!\d))| (?:and|or|the|it|was|is|with|but|to|we|they|when|as|an?|by|for|on|there|edition"
        r"|report|document|version|release|analysis)\b)"
    ),
    re.compile(
        r"(?<!\w)(?i:(?:figure|table|section|part|chapter|page|step|phase|run|node|host|issue|version|example|case"
        r"|experiment|scenario|line|epoch|slot|block|era|round|height|level|appendix|rfc|cip)s?|no\.|figs?\.)"
        r" \d+(?:[.,]\d+)*(?:(?:,| and| to| or|[–-]) ?\d+(?:\.\d+)*)*"
    ),
    re.compile(r"(?<=[a-z,;:(] )[A-Z][\w+-]* \d+(?:\.\d+)*"),
)
#: of the source of a text, what is neither a quote, nor code, nor a link, nor a comment
_MASKED = re.compile(
    rf"{QUOTE_PATTERN.pattern}|(?m:^ *(?P<fence>```|~~~)).*?(?m:^ *(?P=fence))|(?P<code>`+)(?!`).*?(?<!`)(?P=code)(?!`)"
    r"|\[[^\]]*\]\([^)]*\)|<!--.*?-->",
    re.S,
)


def compile_words(words: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that matches one of some words, or nothing without words."""
    longest_first = sorted(words, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first)) or '(?!)'})(?!\w)")


def list_sentences(text: str) -> list[tuple[int, int]]:
    """Return the sentences of a paragraph: the first character of each, and that after its last."""
    return list(pairwise([0, *(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]))


class NumberFinder:
    """Finds numbers of an author. Names of metrics and runs, code and links are no claims."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = compile_words({name for name in names if name})

    def find_in_leaf(self, leaf: TextBlock, quote_spans: Collection[QuoteSpan[AnyQuote]]) -> list[tuple[int, int]]:
        """Return where a paragraph claims something without a quote: characters from the first to after the last."""
        covered = list(_list_literal_spans(leaf.phrases)) if leaf.kind != CODE else [(0, len(leaf.text))]
        covered += [(begin, end) for begin, end, _ in quote_spans]
        covered += [match.span() for match in self.names.finditer(leaf.text)]
        claims: list[tuple[int, int]] = []
        for begin, end in list_sentences(leaf.text):
            has_quotes = any(begin <= first < end for first, _, _ in quote_spans)
            patterns = self.choose_patterns(leaf.text[begin:end], has_quotes=has_quotes)
            bounds = compile_words(
                bound
                for first, _, quote in quote_spans
                if begin <= first < end
                for bound in getattr(quote, "bounds", ())
            )
            checked = [match.span() for match in bounds.finditer(leaf.text) if begin <= match.start() < end]
            claims += _find_ranges(leaf.text[begin:end], begin, patterns, [*covered, *checked])
        return claims

    def choose_patterns(self, _sentence: str, *, has_quotes: bool) -> Sequence[re.Pattern[str]]:  # noqa: ARG002
        """Return what a sentence may claim."""
        return NUMBER_PATTERNS


def _list_literal_spans(phrases: Sequence[Phrase], begin: int = 0) -> Iterator[tuple[int, int]]:
    """Yield where a paragraph has code or links."""
    for phrase in phrases:
        end = begin + sum(map(len, phrase.iter_words()))
        if phrase.form in (CODE, LINK):
            yield begin, end
        else:
            yield from _list_literal_spans(phrase.phrases, begin + len(phrase.words))
        begin = end


def _find_ranges(
    sentence: str, begin: int, patterns: Sequence[re.Pattern[str]], covered: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Yield the matches of patterns in a sentence that overlap neither a covered range nor one before them."""
    last = 0
    dates = [match.span() for match in _DATE.finditer(sentence)]
    ordinals = [match.span() for pattern in _ORDINALS for match in pattern.finditer(sentence)]
    matches = (match for pattern in patterns for match in pattern.finditer(sentence))
    for match in sorted(matches, key=lambda item: (item.start(), -item.end())):
        first, end = begin + match.start(), begin + match.end()
        no_claims = dates if match.groupdict().get("unit") else [*dates, *ordinals]
        excluded = [*covered, *((begin + a, begin + b) for a, b in no_claims)]
        if first < last or _VERSION.search(match[0]) or any(a < end and first < b for a, b in excluded):
            continue
        last = end
        yield first, end


def find_unquoted(
    text: str, name: str, rendered: RenderedProse[AnyQuote], finder: NumberFinder, message: str
) -> tuple[Diagnostic, ...]:
    """Return the claims of a text without a quote, as warnings with their places in the file `name`.

    `message` describes a claim: it has the placeholder `{claim}`.
    """
    problems, position = [], 0
    source = _MASKED.sub(lambda match: re.sub(r"[^\n]", "_", match[0]), text)
    for leaf, spans in zip(list_leaves(rendered.blocks), rendered.quote_spans, strict=True):
        for begin, end in finder.find_in_leaf(leaf, spans):
            claim = leaf.text[begin:end]
            match = _locate(claim, source, position)
            position = match.end() if match else position
            span, excerpt = Span(name), ""
            if match:
                before = text[: match.start()]
                line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
                span = Span(name, line, column, len(claim))
                excerpt = format_excerpt(text.splitlines(), line, column, len(claim))
            problems.append(Diagnostic(_CODE, message.format(claim=claim), span, excerpt, severity="warning"))
    return tuple(problems)


def _locate(claim: str, source: str, position: int) -> re.Match[str] | None:
    """Return the first match of a claim in a source from a position on."""
    words = r"[\s*_]+".join(map(re.escape, claim.split()))
    return re.compile(rf"(?<![\w.,:/#-]){words}(?![\w:/-]|\.\d)").search(source, position)


def mark_unquoted(rendered: RenderedProse[AnyQuote], finder: NumberFinder) -> tuple[RenderedProse[AnyQuote], int]:
    """Return prose with a mark behind each claim without a quote, and the number of marks."""
    leaves, span_lists, count = [], [], 0
    for leaf, spans in zip(list_leaves(rendered.blocks), rendered.quote_spans, strict=True):
        ends = [end for _, end in finder.find_in_leaf(leaf, spans)]
        leaves.append(replace(leaf, phrases=_insert_marks(leaf.phrases, ends)))
        span_lists.append(tuple((_shift(a, ends), _shift(b, ends), quote) for a, b, quote in spans))
        count += len(ends)
    return RenderedProse(_replace_leaves(rendered.blocks, iter(leaves)), tuple(span_lists)), count


def add_note(rendered: RenderedProse[AnyQuote], note: str) -> RenderedProse[AnyQuote]:
    """Return prose with a paragraph behind it."""
    return RenderedProse((*rendered.blocks, TextBlock(phrases=(Phrase(note),))), (*rendered.quote_spans, ()))


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
