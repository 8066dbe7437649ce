"""Parse patterns of lines: literal text with named captures; each becomes a regular expression (RE2).

`{name}` is a word (characters other than blanks, as few as fit), `{name...}` any text, `{}` and `{...}` the same
without a name, `{? ... ?}` an optional part, `{{` and `}}` braces.  A blank stands for one or more blanks.
The language is regular, so that matching takes linear time for every pattern.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from assay.util.regex import escape_literal

WORD, REST = r"[^ \t]+?", r".+?"
LAST = {WORD: r"[^ \t]+", REST: r".+"}  # at the end of a line a capture is greedy, because no text follows
BLANKS = r"[ \t]+"
_NO_WORD_CHARACTER = r"[^\pL\pM\pN_]"  # of any script; only the engine has such classes
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TOKEN = re.compile(r"\{\{|\}\}|\{\?|\?\}|\{[^{}]*\}|[{}]|[^{}?]+|\?")
VALUE = "value"  # the place of a constant in the pattern of its line
PLACES = "`{name}`, `{name...}`, `{}` or `{...}`"


class PatternError(ValueError):
    """A text that is not a pattern: the problem, its position (from 0) and length, and a hint."""

    def __init__(self, message: str, position: int, length: int, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.position = position
        self.length = length
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a pattern: literal `text`, or a capture that `matches` an expression and may have a `name`.

    `optional` is the number of the optional part that the piece is in, or 0.
    """

    text: str = ""
    name: str = ""
    matches: str = ""
    optional: int = 0

    @property
    def pattern_text(self) -> str:
        """Return the piece as written in the pattern."""
        dots = "..." if self.matches == REST else ""
        return f"{{{self.name}{dots}}}" if self.matches else self.text


@dataclass(frozen=True, slots=True)
class Beginning:
    """The part of a pattern before a piece, as an expression whose last capture is greedy.

    Where a word precedes a literal piece, `shortest` is an expression whose first group ends with that word, before the
    first character of the piece; otherwise it is empty.
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
        """Return the names of the captures, in order."""
        return tuple(piece.name for piece in self.pieces if piece.name)

    @property
    def required_places(self) -> tuple[str, ...]:
        """Return the names of the captures that every line has: those in no optional part."""
        return tuple(piece.name for piece in self.pieces if piece.name and not piece.optional)

    @property
    def last_places(self) -> tuple[str, ...]:
        """Return the names of captures that a line may end with: several if an optional part is at the end."""
        names, part = [], -1
        for piece in reversed(self.pieces):
            if piece.optional != part:
                names.append(piece.name)
            if not piece.optional:
                break
            part = piece.optional
        return tuple(name for name in names if name)

    @property
    def literal_prefix(self) -> str:
        """Return the literal text that the pattern begins with."""
        first = self.pieces[0]
        return "" if first.matches or first.optional else first.text

    @property
    def begins_with_whole_words(self) -> bool:
        """Return whether the literal text that the pattern begins with ends in a word that no line continues."""
        text = self.literal_prefix
        if not _is_word_character(text.rstrip(" \t")[-1:]):
            return False
        return text.endswith((" ", "\t")) or not any(
            piece.matches or _is_word_character(piece.text[0]) for piece in self._iter_second_pieces()
        )

    def _iter_second_pieces(self) -> Iterator[Piece]:
        """Yield the pieces that may follow the first one, which is in no optional part."""
        part = 0
        for piece in self.pieces[1:]:
            if piece.optional != part or not piece.optional:
                yield piece
            if not piece.optional:
                return
            part = piece.optional

    def build_expression(self, places: Sequence[str]) -> str:
        """Return the regular expression of a whole line, without trailing blanks.

        It has a group for each of `places`, in the order of the pattern.
        """
        return f"^{_build_regex(self.pieces, frozenset(places), whole=True)}$"

    def iter_beginnings(self) -> Iterator[Beginning]:
        """Yield what precedes each piece that every line has."""
        for index, piece in enumerate(self.pieces):
            if not piece.optional:
                before, shortest = self.pieces[:index], ""
                if index and before[-1].matches == WORD and piece.text:
                    shortest = (
                        f"^({_build_regex(before, frozenset(), whole=False)}){build_literal_regex(piece.text[0])}"
                    )
                yield Beginning(piece, f"^{_build_regex(before, frozenset(), whole=True)}", shortest)


def build_marks_regex(patterns: Iterable[Pattern]) -> str:
    """Return the expression of the beginnings of lines that look like lines of patterns; empty if all lines do.

    If every line of a pattern goes on with another word after its first literal text, the text ends where a word ends:
    `ends` does not look like the pattern `end {}`.
    """
    marks: dict[bool, dict[str, None]] = {True: {}, False: {}}
    for pattern in patterns:
        text = pattern.literal_prefix.rstrip(" \t")
        if not text:
            return ""
        marks[pattern.begins_with_whole_words][build_literal_regex(text)] = None
    # The class of characters is large: with one for each text, the matcher would run out of memory and become slow.
    words = [f"(?:{'|'.join(marks[True])})(?:{_NO_WORD_CHARACTER}|$)"] if marks[True] else []
    return "|".join([*words, *marks[False]])


def _is_word_character(character: str) -> bool:
    """Return whether a character is a letter, a mark, a digit or `_`."""
    return character == "_" or unicodedata.category(character)[0] in "LMN" if character else False


def build_literal_regex(text: str) -> str:
    """Return the regular expression of a literal text; blanks match one or more."""
    parts = re.split(r"[ \t]+", text)
    return BLANKS.join(escape_literal(part) for part in parts)


def _build_regex(pieces: Sequence[Piece], places: frozenset[str], whole: bool) -> str:
    parts, part = [], 0
    for index, piece in enumerate(pieces):
        if piece.optional != part:
            parts.append((")?" if part else "") + ("(?:" if piece.optional else ""))
            part = piece.optional
        if not piece.matches:
            parts.append(build_literal_regex(piece.text))
            continue
        matches = LAST[piece.matches] if whole and index == len(pieces) - 1 else piece.matches
        if piece.matches == REST and index and pieces[index - 1].text.endswith((" ", "\t")):
            # The literal has matched all blanks; excluding one here avoids backtracking, which is much faster.
            matches = f"[^ \\t]{matches[:1]}*{matches[2:]}"
        parts.append(f"({matches})" if piece.name in places else matches)
    return "".join(parts) + (")?" if part else "")


def parse_pattern(text: str) -> Pattern:
    """Parse the text of a pattern.  Raises PatternError."""
    pieces: list[Piece] = []
    part, part_start, part_count = 0, 0, 0
    for match in _TOKEN.finditer(text.rstrip(" \t")):
        token, position = match.group(), match.start()
        if token == "{?":
            if part:
                raise PatternError("an optional part begins within another", position, 2, "close the first with `?}`")
            part_count += 1
            part, part_start = part_count, position
        elif token == "?}":
            if not part:
                raise PatternError("`?}` without `{?`", position, 2, "start the optional part with `{?`")
            part = 0
        elif token in ("{", "}"):
            raise PatternError("unmatched brace", position, 1, f"write `{token * 2}` for a literal brace")
        elif token.startswith("{") and token != "{{":
            pieces.append(_parse_capture(token, position, pieces, part))
        else:
            _append_text(pieces, {"{{": "{", "}}": "}"}.get(token, token), part)
    if part:
        raise PatternError("unclosed optional part", part_start, 2, "close it with `?}`")
    if not pieces:
        raise PatternError("the pattern is empty", 0, 0, "write the text of a line, with places such as `{name}`")
    return Pattern(tuple(pieces))


def _append_text(pieces: list[Piece], text: str, part: int) -> None:
    """Append literal text, to the last piece if that is literal too."""
    last = pieces[-1] if pieces else None
    if last and not last.matches and last.optional == part:
        pieces[-1] = Piece(last.text + text, optional=part)
    else:
        pieces.append(Piece(text, optional=part))


def _parse_capture(token: str, position: int, before: Sequence[Piece], part: int) -> Piece:
    inner = token[1:-1]
    name = inner.removesuffix("...")
    if name and not _NAME.fullmatch(name):
        hint = "a name consists of letters, digits and `_`; write `{{` or `}}` for a literal brace"
        raise PatternError(f"`{token}` is not a place", position, len(token), hint)
    if name and name in {piece.name for piece in before}:
        raise PatternError(f"duplicate place `{name}`", position, len(token), "rename one; `{}` has no name")
    if before and before[-1].matches:
        hint = "put the text that separates them between the places"
        raise PatternError("two adjacent places without text between them", position, len(token), hint)
    return Piece(name=name, matches=REST if inner.endswith("...") else WORD, optional=part)
