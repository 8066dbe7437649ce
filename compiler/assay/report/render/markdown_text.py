"""Write formatted text as Markdown."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from urllib.parse import quote

from assay.report.cell_links import QuotedValue
from assay.report.document import Part
from assay.report.formatted_text import (
    BULLETS,
    CODE,
    EMPHASIS,
    LINK,
    NUMBERS,
    PARAGRAPH,
    STRONG,
    Phrase,
    TextBlock,
    parse_code,
)
from assay.util.escape import find_longest_run, quote_code

_SIGNS = {STRONG: "**", EMPHASIS: "*"}
_ELEMENTS = {STRONG: "strong", EMPHASIS: "em"}
#: the first characters of phrases with a form
_FIRST_SIGNS = {**_SIGNS, LINK: "[", CODE: "`"}
#: characters beside signs of emphasis that leave them their meaning, whatever is within the signs
_BETWEEN_WORDS = ("", " ", *"!\"#$%&'(),-./:;<=>?@[]^`{|}~")
#: signs of emphasis at the ends of what is emphasized
_AMBIGUOUS = re.compile(r"^\*|\*$")
_GREATEST_NUMBER = 999_999_999  # a number of an item has at most nine digits

Escape = Callable[[str], str]


def format_text_blocks(blocks: Sequence[TextBlock], escape: Escape, escape_first: Escape) -> Iterator[str]:
    """Yield each block as Markdown; `escape_first` escapes words at the beginning of a line, `escape` others."""
    previous_kind, has_other_signs = "", False
    for block in blocks:
        if block.kind == CODE:
            yield _format_code_block(block.text)
        elif block.kind in (BULLETS, NUMBERS):
            # Markdown would join neighbouring lists of one kind: their signs differ.
            has_other_signs = block.kind == previous_kind and not has_other_signs
            yield _format_list(block, escape, escape_first, ("*", ")") if has_other_signs else ("-", "."))
        else:
            yield _format_phrases(block.phrases, escape, escape_first)
        previous_kind = block.kind


def link_quotes(part: Part, entries: Mapping[str, object]) -> Part:
    """Return a part whose plain quoted values are links to their `entries`, as far as these exist."""
    paragraphs = itertools.count()

    def link_blocks(blocks: Sequence[TextBlock]) -> tuple[TextBlock, ...]:
        return tuple(
            replace(block, items=tuple(map(link_blocks, block.items)))
            if block.items
            else replace(block, phrases=tuple(_link_phrases(block, part.quoted, next(paragraphs), entries)))
            for block in blocks
        )

    return replace(part, formatted=link_blocks(part.formatted))


def _link_phrases(
    block: TextBlock, quoted: Sequence[QuotedValue], paragraph: int, entries: Mapping[str, object]
) -> Iterator[Phrase]:
    """Yield the phrases of a paragraph, those without a form split at quoted values."""
    position = 0
    for phrase in block.phrases:
        length = len("".join(phrase.iter_words()))
        if phrase.form:
            yield phrase
        else:
            inside = [item for item in quoted if item.paragraph == paragraph and item.entry in entries]
            begin = 0
            for item in inside:
                start, end = item.begin - position, item.end - position
                if begin <= start < end <= length:
                    link = f"#metric-{quote(item.entry)}"
                    yield Phrase(phrase.words[begin:start])
                    yield Phrase(form=LINK, link=link, phrases=(Phrase(phrase.words[start:end]),))
                    begin = end
            yield Phrase(phrase.words[begin:])
        position += length


def format_coded(text: str, escape: Escape, escape_first: Escape, *, is_cell: bool = False) -> str:
    """Return a text in which names between backticks are code. In a cell of a table, `|` ends even code."""
    phrases = parse_code(text)
    if len(phrases) == 1 and not phrases[0].form:
        return escape_first(text)  # keeps blanks at the ends
    if is_cell:
        phrases = tuple(replace(item, words=item.words.replace("|", r"\|")) if item.form else item for item in phrases)
    return _format_phrases(phrases, escape, escape_first)


def _format_list(block: TextBlock, escape: Escape, escape_first: Escape, signs: tuple[str, str]) -> str:
    lines = []
    bullet, point = signs
    for number, item in enumerate(block.items, start=block.start):
        sign = f"{min(number, _GREATEST_NUMBER)}{point}" if block.kind == NUMBERS else bullet
        separator = "\n" if _is_tight(item) else "\n\n"
        first, *others = separator.join(format_text_blocks(item, escape, escape_first)).split("\n")
        indent = " " * (len(sign) + 1)
        lines += [f"{sign} {first}", *(f"{indent}{line}" if line else "" for line in others)]
    return "\n".join(lines)


def _is_tight(item: Sequence[TextBlock]) -> bool:
    """Return whether an item is a paragraph with a list that may follow it without an empty line."""
    return len(item) == 2 and item[0].kind == PARAGRAPH and item[1].kind in (BULLETS, NUMBERS) and item[1].start == 1


def _format_code_block(text: str) -> str:
    fence = "`" * max(3, find_longest_run(text) + 1)
    return f"{fence}\n{text}\n{fence}"


def _format_phrases(phrases: Sequence[Phrase], escape: Escape, escape_first: Escape) -> str:
    text = ""
    for number, phrase in enumerate(phrases):
        if phrase.form == CODE:
            text += quote_code(phrase.words)
        elif phrase.form:
            inner = _keep_blanks(_format_phrases(phrase.phrases, escape, escape))
            if phrase.form == LINK:
                text = re.sub("!$", r"\\!", text)  # `![` begins a picture
                text += f"[{inner}]({_format_address(phrase.link)})" if phrase.link else inner
            else:
                text += _emphasize(phrase.form, inner, text[-1:], _get_first_character(phrases[number + 1 :]))
        else:
            # Blanks between phrases stay blanks; `escape` would write references.
            before, words, after = phrase.words.partition(phrase.words.strip(" ") or "\0")
            text += f"{before}{(escape if text else escape_first)(words)}{after}"
    return text


def _get_first_character(phrases: Sequence[Phrase]) -> str:
    """Return the character that the Markdown of some phrases begins with, or one that has the same effect before it."""
    return next((_FIRST_SIGNS.get(phrase.form) or phrase.words[:1] for phrase in phrases), "")


def _emphasize(form: str, inner: str, previous: str, following: str) -> str:
    """Return emphasis; as elements if the characters around them keep signs from being read as such."""
    if all(
        outside in _BETWEEN_WORDS or (outside.isalnum() and inside.isalnum())
        for outside, inside in ((previous, inner[:1]), (following, inner[-1:]))
    ) and not _AMBIGUOUS.search(inner):
        return f"{_SIGNS[form]}{inner}{_SIGNS[form]}"
    return f"<{_ELEMENTS[form]}>{inner}</{_ELEMENTS[form]}>"


def _keep_blanks(text: str) -> str:
    """Write blanks at the ends of a text, which would disable the signs around it, as character references."""
    return re.sub("^ | $", "&#32;", text)


def _format_address(link: str) -> str:
    address = link.replace("&", "&amp;")
    return f"<{address}>" if re.search(r"[()]", address) else address
