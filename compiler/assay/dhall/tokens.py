"""All tokens of a text, with the pieces of its text literals, for what needs no expressions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from assay.dhall.lexer import Lexer
from assay.dhall.syntax import Source

_PIECES = {
    "text": re.compile(r'(?:[^"\\$]|\\.|\$(?!\{))*', re.S),
    "multi": re.compile(r"(?:''\$\{|'''|[^'$]|'(?!')|\$(?!\{))*"),
}
_QUOTES = {"text": '"', "multi": "''"}


class Token(NamedTuple):
    """A token and its offsets.

    `kind` is that of the lexer, but `piece` for a piece of a text literal, and `unclosed` for one that does not end.
    """

    kind: str
    start: int
    end: int


def iterate_tokens(source: Source) -> Iterator[Token]:
    """Yield the tokens of a text; raise `DhallError` at characters that are none."""
    lexer = Lexer(source)
    braces: list[str] = []
    while lexer.kind != "end":
        kind, start, end = lexer.kind, lexer.start, lexer.position
        literal = kind if kind in _PIECES else ""
        if kind == "{":
            braces.append("")
        elif kind == "}" and braces:
            literal = braces.pop()
        if not literal or kind == "}":
            yield Token(kind, start, end)
            start = end
        if literal:
            end = _end_of_piece(source.text, literal, end)
            is_interpolated = source.text.startswith("${", end)
            if not is_interpolated and end == len(source.text):
                yield Token("unclosed", start, end)
                return
            after = end if is_interpolated else end + len(_QUOTES[literal])
            yield Token("piece", start, after)
            end = after
            if is_interpolated:
                yield Token("${", end, end + 2)
                braces.append(literal)
                end += 2
        lexer.position = end
        lexer.advance()


def _end_of_piece(text: str, literal: str, start: int) -> int:
    """Return where a piece of a text literal ends: at its closing quotes, at `${`, or at the end of the text."""
    match = _PIECES[literal].match(text, start)
    assert match is not None
    return match.end() if text[match.end() : match.end() + 1] in ('"', "'", "$") else len(text)
