"""Parse prose: a subset of Markdown (CommonMark), with quotes of results.

Prose has paragraphs, lists, code blocks, inline code, emphasis and links. What else Markdown has is a problem with its
place. Comments are notes of the author; they do not become part of the text.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.report.formatted_text import BULLETS, CODE, EMPHASIS, LINK, LINK_ADDRESS, NUMBERS, PARAGRAPH, STRONG

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

QUOTE = "quote"
QUOTE_PATTERN = re.compile(r"\{\{((?:(?!\{\{|\}\}).)*)\}\}", re.S)
COMMENTS = re.compile(r"(?:\s*<!--(?:(?!-->).)*-->)+\s*", re.S)
DEEPEST_FORM = 8  # forms within forms: emphasis, links
DEEPEST = 3  # lists within lists; what Markdown nests deeper than 20 blocks it leaves out
_POSITION = "position"

_HINTS = {
    "a heading": "use the `title` of the part as heading, or add a part",
    "a table": "add `listings`, `pivots` or `facts` to the part",
    "a rule": "separate paragraphs by an empty line",
    "a block quote": "write `\\>` for the sign itself",
    "HTML": "write `\\<` for the sign itself, code in backticks, and comments on lines of their own",
    "so deep a list": f"lists may have lists within them, up to {DEEPEST} levels",
    "so many forms within each other": "emphasize fewer words",
    "a picture": "add `timelines` or `scatters` to the part",
    "a line break": "begin a paragraph or a list",
    "a footnote": "write it as a sentence",
    "a definition of a link": "write the address behind the words: `[words](https://...)`",
}
_BLOCK_KINDS = {
    "heading_open": "a heading",
    "table_open": "a table",
    "hr": "a rule",
    "blockquote_open": "a block quote",
    "html_block": "HTML",
}
_INLINE_KINDS = {"image": "a picture", "html_inline": "HTML", "hardbreak": "a line break"}
#: lines of paragraphs that look like what this parser does not recognise
_LINES = (
    (re.compile(r"\|.*\|$"), "a table"),
    (re.compile(r"\[\^[^\]]+\]"), "a footnote"),
    (re.compile(r"\[[^\]]+\]:\s"), "a definition of a link"),
)
_LIST_KINDS = {"bullet_list_open": BULLETS, "ordered_list_open": NUMBERS}
_FORMS = {"strong_open": STRONG, "em_open": EMPHASIS, "link_open": LINK}


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a text: 1-based line and column, and a length."""

    line: int
    column: int
    length: int


_NOWHERE = Place(0, 0, 0)


@dataclass(frozen=True, slots=True)
class MarkupProblem:
    """What prose cannot have, with its place and the fix."""

    message: str
    place: Place
    hint: str = ""
    expected: str = ""
    found: str = ""
    code: str = "prose"


@dataclass(frozen=True, slots=True)
class SourcePhrase:
    """A phrase of prose as it is written: like `Phrase`, but quotes have the form `quote`.

    Quotes and links have a place.
    """

    words: str = ""
    form: str = ""
    link: str = ""
    phrases: tuple[SourcePhrase, ...] = ()
    place: Place = _NOWHERE


@dataclass(frozen=True, slots=True)
class SourceBlock:
    """A block of prose as it is written: like `TextBlock`."""

    kind: str = PARAGRAPH
    phrases: tuple[SourcePhrase, ...] = ()
    items: tuple[tuple[SourceBlock, ...], ...] = ()
    start: int = 1


@dataclass(frozen=True, slots=True)
class Markup:
    """The blocks of a text and what it cannot have."""

    blocks: tuple[SourceBlock, ...]
    problems: tuple[MarkupProblem, ...]

    def list_quotes(self) -> list[SourcePhrase]:
        """Return the quotes, in order."""
        return [phrase for block in self.blocks for phrase in _iter_phrases(block) if phrase.form == QUOTE]

    def list_links(self) -> list[SourcePhrase]:
        """Return the links, in order."""
        return [phrase for block in self.blocks for phrase in _iter_phrases(block) if phrase.form == LINK]


def _iter_phrases(block: SourceBlock | SourcePhrase) -> Iterator[SourcePhrase]:
    """Yield the phrases in a block or phrase, each before those in it."""
    for phrase in block.phrases:
        yield phrase
        yield from _iter_phrases(phrase)
    for item in block.items if isinstance(block, SourceBlock) else ():
        for inner_block in item:
            yield from _iter_phrases(inner_block)


def parse_markup(text: str) -> Markup:
    """Parse a text. Of each kind of problem, the first is reported."""
    parser = _Parser(text)
    blocks = parser.parse_blocks(iter(_create_reader().parse(text)), "")
    first_problems = {(item.message, item.found): item for item in reversed(parser.problems)}
    return Markup(blocks, tuple(sorted(first_problems.values(), key=lambda item: (item.place.line, item.place.column))))


@functools.cache
def _create_reader() -> MarkdownIt:
    """Return the parser of Markdown, whose inline tokens know their position."""
    from markdown_it import MarkdownIt, rules_inline  # slow to import, and only prose needs it

    reader = MarkdownIt("commonmark").enable("table").disable(["normalize", "code", "reference"])
    for name in ("link", "image", "autolink", "html_inline", "newline", "escape"):
        reader.inline.ruler.at(name, _note_position(getattr(rules_inline, name)))
    reader.inline.ruler.before("escape", QUOTE, _note_position(_read_quote))
    reader.validateLink = _accept_address  # type: ignore[method-assign]
    return reader


def _accept_address(url: str) -> bool:
    """Accept the address of any link: `_Parser` reports those that links cannot have, Markdown would print them."""
    return isinstance(url, str)


def _note_position(rule: Callable[[StateInline, bool], bool]) -> Callable[[StateInline, bool], bool]:
    """Return a rule that notes in its tokens where they begin."""

    def read(state: StateInline, silent: bool) -> bool:
        position, count = state.pos, len(state.tokens)
        is_read = rule(state, silent)
        for token in state.tokens[count:] if is_read and not silent else ():
            token.meta.setdefault(_POSITION, (position, state.pos))
        return is_read

    return read


def _read_quote(state: StateInline, silent: bool) -> bool:
    match = QUOTE_PATTERN.match(state.src, state.pos, state.posMax)
    if not match:
        return False
    if not silent:
        state.push(QUOTE, "", 0).content = match[0]
    state.pos = match.end()
    return True


def _is_allowed(token: Token, parent: Token) -> bool:
    """Return whether a token is a comment, or blanks at the end of a line, which Markdown takes for a line break."""
    if token.type == "hardbreak":
        return parent.content[token.meta[_POSITION][0]] != "\\"
    return token.type == "html_inline" and bool(COMMENTS.fullmatch(token.content))


def _skip_to(tokens: Iterator[Token], end: str) -> None:
    """Skip the tokens up to `end`, and that token."""
    while next(tokens).type != end:
        pass


class _Parser:
    """The conversion of tokens of a text to blocks and problems."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.problems: list[MarkupProblem] = []

    def parse_blocks(self, tokens: Iterator[Token], end: str) -> tuple[SourceBlock, ...]:
        """Return the blocks up to the token `end`."""
        blocks: list[SourceBlock] = []
        for token in tokens:
            if token.type == end:
                break
            if token.type in _BLOCK_KINDS:
                self._refuse_block(token)
                if token.nesting:
                    _skip_to(tokens, token.type.replace("_open", "_close"))
            elif token.type in _LIST_KINDS:
                if token.level >= 2 * DEEPEST:
                    self._refuse("so deep a list", self._locate_line((token.map or (0, 1))[0]))
                items = self._parse_items(tokens, token.type.replace("_open", "_close"))
                start = int(token.attrs.get("start", 1))
                blocks += [SourceBlock(_LIST_KINDS[token.type], items=items, start=start)] if items else []
            elif token.type == "fence":
                blocks.append(SourceBlock(CODE, (SourcePhrase(token.content.removesuffix("\n"), CODE),)))
            elif token.type == "inline":
                self._check_lines(token)
                phrases = self._parse_phrases(iter(token.children or ()), "", token)
                blocks += [SourceBlock(PARAGRAPH, phrases)] if phrases else []
        return tuple(blocks)

    def _parse_items(self, tokens: Iterator[Token], end: str) -> tuple[tuple[SourceBlock, ...], ...]:
        items = []
        for token in tokens:
            if token.type == end:
                break
            items.append(self.parse_blocks(tokens, "list_item_close"))
        return tuple(item for item in items if item)

    def _parse_phrases(
        self, tokens: Iterator[Token], end: str, parent: Token, depth: int = 0
    ) -> tuple[SourcePhrase, ...]:
        """Return the phrases of a paragraph, or of a form that the token `end` ends; `parent` is the paragraph."""
        phrases: list[SourcePhrase] = []
        for token in tokens:
            if token.type == end:
                break
            if token.type in _FORMS and depth == DEEPEST_FORM:
                self._refuse("so many forms within each other", self._locate_position(0, 1, parent))
            elif token.type in _FORMS:
                inner = self._parse_phrases(tokens, token.type.replace("_open", "_close"), parent, depth + 1)
                link = self._check_link(token, parent) if token.type == "link_open" else ""
                place = self._locate(token, parent) if link else _NOWHERE
                phrases += [SourcePhrase("", _FORMS[token.type], link, inner, place)] if inner else []
            elif token.type in _INLINE_KINDS:
                if not _is_allowed(token, parent):
                    self._refuse(_INLINE_KINDS[token.type], self._locate(token, parent))
                phrases += [SourcePhrase("\n")] if token.type == "hardbreak" else []
            elif token.type == QUOTE:
                phrases.append(SourcePhrase(token.content, QUOTE, place=self._locate(token, parent)))
            elif token.type == "code_inline":
                phrases.append(SourcePhrase(token.content, CODE))
            elif token.type in ("text", "softbreak"):
                phrases.append(SourcePhrase("\n" if token.type == "softbreak" else token.content))
        return tuple(phrases)

    def _check_link(self, token: Token, parent: Token) -> str:
        """Return the address of a link; empty if links cannot have it, which is a problem."""
        address = str(token.attrs.get("href", ""))
        if LINK_ADDRESS.fullmatch(address):
            return address
        self.problems.append(
            MarkupProblem(
                "a link of prose leads to an address that links cannot have",
                self._locate(token, parent),
                expected="https://..., http://..., mailto:... or #title-of-a-part",
                found=address or "no address",
            )
        )
        return ""

    def _check_lines(self, token: Token) -> None:
        position = 0
        for line in token.content.split("\n"):
            for pattern, kind in _LINES:
                if pattern.match(line):
                    self._refuse(kind, self._locate_position(position, 1, token))
            position += len(line) + 1
        masked_text = QUOTE_PATTERN.sub(lambda match: "_" * len(match[0]), token.content)
        masked_text = re.sub(r"(`+).*?\1", lambda match: "_" * len(match[0]), masked_text, flags=re.S)
        if "{{" in masked_text:
            place = self._locate_position(masked_text.index("{{"), 2, token)
            self.problems.append(MarkupProblem("a quote of a result has no end", place, expected="}} behind it"))

    def _refuse_block(self, token: Token) -> None:
        if token.type == "html_block" and COMMENTS.fullmatch(token.content):
            return
        begin, end = token.map or (0, 1)
        is_underlined = token.type == "heading_open" and token.markup in ("=", "-")
        self._refuse(_BLOCK_KINDS[token.type], self._locate_line(end - 1 if is_underlined else begin))

    def _refuse(self, kind: str, place: Place) -> None:
        self.problems.append(MarkupProblem(f"prose cannot have {kind}", place, _HINTS[kind], code="prose-markdown"))

    def _locate_line(self, index: int) -> Place:
        line = self.lines[index]
        return Place(index + 1, len(line) - len(line.lstrip()) + 1, 1)

    def _locate(self, token: Token, parent: Token) -> Place:
        begin, end = token.meta[_POSITION]
        return self._locate_position(begin, end - begin, parent)

    def _locate_position(self, position: int, length: int, parent: Token) -> Place:
        """Return the place of a position in the content of a paragraph, whose lines have lost their indents."""
        before = parent.content[:position]
        index = before.count("\n")
        number = (parent.map or (0, 1))[0] + index
        line = parent.content.split("\n")[index]
        indent = len(self.lines[number].rstrip()) - len(line.rstrip())
        return Place(number + 1, max(indent, 0) + position - (before.rfind("\n") + 1) + 1, length)
