"""Patterns of lines: literal text with named places, and the regular expression (RE2) that each becomes.

`{name}` is a word (characters other than blanks, as few as fit), `{name...}` any text, `{}` and `{...}` the same
without a name, `{? ... ?}` a part that may be absent, `{{` and `}}` braces.  A blank stands for one or more blanks.
What it becomes is a regular language: a line is told in time that grows with its length, whatever the pattern is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

WORD, REST = r"[^ \t]+?", r".+?"
LAST = {WORD: r"[^ \t]+", REST: r".+"}  # at the end nothing follows that a place could leave out
BLANKS = r"[ \t]+"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TOKEN = re.compile(r"\{\{|\}\}|\{\?|\?\}|\{[^{}]*\}|[{}]|[^{}?]+|\?")
PLACES = "`{name}`, `{name...}`, `{}` or `{...}`"


class PatternError(ValueError):
    """A text that is no pattern: what is wrong, where it is (from 0), how long, and what may help."""

    def __init__(self, message: str, at: int, length: int, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.at = at
        self.length = length
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a pattern: literal `text`, or a place (`matches` what; `name` may be empty); in an optional part?"""

    text: str = ""
    name: str = ""
    matches: str = ""
    optional: int = 0

    @property
    def pattern_text(self) -> str:
        """The piece as the pattern has it."""
        dots = "..." if self.matches == REST else ""
        return f"{{{self.name}{dots}}}" if self.matches else self.text


@dataclass(frozen=True, slots=True)
class Beginning:
    """What stands before a piece: its expression, whose last place takes as much as it can, a word the whole of it.

    `shortest` is an expression whose first group ends that word where the piece, a text, may begin: where its first
    character stands; empty where no word is before a text.
    """

    piece: Piece
    expression: str
    shortest: str


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern as its pieces, in order."""

    pieces: tuple[Piece, ...]

    @property
    def places(self) -> tuple[str, ...]:
        """The names of its places, in order."""
        return tuple(piece.name for piece in self.pieces if piece.name)

    @property
    def sure(self) -> tuple[str, ...]:
        """The names of its places that every line has: those in no optional part."""
        return tuple(piece.name for piece in self.pieces if piece.name and not piece.optional)

    @property
    def last(self) -> tuple[str, ...]:
        """The names of its places that a line may end with: several where an optional part is at its end."""
        found, part = [], -1
        for piece in reversed(self.pieces):
            if piece.optional != part:
                found.append(piece.name)
            if not piece.optional:
                break
            part = piece.optional
        return tuple(name for name in found if name)

    @property
    def mark(self) -> str:
        """The text that it begins with: by this a line looks as if it were of the pattern."""
        first = self.pieces[0]
        return "" if first.matches or first.optional else first.text

    def expression(self, places: Sequence[str]) -> str:
        """The regular expression of a whole line, without blanks at its end; a group for each of some places, in
        their own order, which is that of the pattern."""
        return f"^{_expression(self.pieces, frozenset(places), whole=True)}$"

    def beginnings(self) -> Iterator[Beginning]:
        """What stands before each piece that every line has."""
        for index, piece in enumerate(self.pieces):
            if not piece.optional:
                before, shortest = self.pieces[:index], ""
                if index and before[-1].matches == WORD and piece.text:
                    shortest = f"^({_expression(before, frozenset(), whole=False)}){literal(piece.text[0])}"
                yield Beginning(piece, f"^{_expression(before, frozenset(), whole=True)}", shortest)


def literal(text: str) -> str:
    """The regular expression of a literal text; its blanks stand for one or more."""
    parts = re.split(r"[ \t]+", text)
    return BLANKS.join(_escaped(part) for part in parts)


def _escaped(text: str) -> str:
    return "".join(char if char.isalnum() or char in "_,;:=#@'\"/<>%&!~`- " else f"\\{char}" for char in text)


def _expression(pieces: Sequence[Piece], places: frozenset[str], whole: bool) -> str:
    found, within = [], 0
    for index, piece in enumerate(pieces):
        if piece.optional != within:
            found.append((")?" if within else "") + ("(?:" if piece.optional else ""))
            within = piece.optional
        if not piece.matches:
            found.append(literal(piece.text))
            continue
        matches = LAST[piece.matches] if whole and index == len(pieces) - 1 else piece.matches
        if piece.matches == REST and index and pieces[index - 1].text.endswith((" ", "\t")):
            # The blanks ahead of it have all been taken: said so, nothing is tried twice, and it is much faster.
            matches = f"[^ \\t]{matches[:1]}*{matches[2:]}"
        found.append(f"({matches})" if piece.name in places else matches)
    return "".join(found) + (")?" if within else "")


def parse(text: str) -> Pattern:
    """The pattern that a text says.  Raises PatternError."""
    pieces: list[Piece] = []
    part, opened, parts = 0, 0, 0
    for found in _TOKEN.finditer(text.rstrip(" \t")):
        token, at = found.group(), found.start()
        if token == "{?":
            if part:
                raise PatternError("an optional part begins within another", at, 2, "close the first with `?}`")
            parts += 1
            part, opened = parts, at
        elif token == "?}":
            if not part:
                raise PatternError("an optional part ends that did not begin", at, 2, "it begins with `{?`")
            part = 0
        elif token in ("{", "}"):
            raise PatternError("a brace without its counterpart", at, 1, f"a brace itself is written `{token * 2}`")
        elif token.startswith("{") and token != "{{":
            pieces.append(_place(token, at, pieces, part))
        else:
            _add(pieces, {"{{": "{", "}}": "}"}.get(token, token), part)
    if part:
        raise PatternError("an optional part without its end", opened, 2, "it ends with `?}`")
    if not pieces:
        raise PatternError("the pattern is empty", 0, 0, "write the text of a line, with places such as `{name}`")
    return Pattern(tuple(pieces))


def _add(pieces: list[Piece], text: str, part: int) -> None:
    """Add literal text, to that before it if there is any."""
    last = pieces[-1] if pieces else None
    if last and not last.matches and last.optional == part:
        pieces[-1] = Piece(last.text + text, optional=part)
    else:
        pieces.append(Piece(text, optional=part))


def _place(token: str, at: int, before: Sequence[Piece], part: int) -> Piece:
    inner = token[1:-1]
    name = inner.removesuffix("...")
    if name and not _NAME.fullmatch(name):
        hint = "a name is made of letters, digits and `_`; a brace itself is written `{{` or `}}`"
        raise PatternError(f"`{token}` is no place", at, len(token), hint)
    if name and name in {piece.name for piece in before}:
        raise PatternError(f"the place `{name}` is named twice", at, len(token), "rename one; `{}` has no name")
    if before and before[-1].matches:
        hint = "put the text between them that stands there in a line"
        raise PatternError("two places follow each other, so nothing tells where one ends", at, len(token), hint)
    return Piece(name=name, matches=REST if inner.endswith("...") else WORD, optional=part)
