"""Text that is still being written: the expression before a dot, and the names that are in scope there.

The text need not be an expression. Tokens alone say which `let` and functions enclose a place: a binding counts when
its own text is an expression, so gaps elsewhere do not matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from assay.dhall.errors import DhallError
from assay.dhall.parser import parse
from assay.dhall.syntax import Source
from assay.dhall.tokens import Token, iterate_tokens

_SELECTION = re.compile(r"\.\s*([A-Za-z0-9_/-]*|`[^`\n]*)\Z")
_OPENERS = {")": "(", "}": "{", "]": "[", ">": "<"}
_BRACKETS = frozenset(("(", "{", "[", "<", "${"))
_OWNERS = frozenset(("label", "quoted", ")", "}"))
_BEFORE_OPERANDS = frozenset(("", "=", "->", "in", "then", "else", "if", ":", ",", *_BRACKETS))


@dataclass(frozen=True, slots=True)
class Selection:
    """A selection that is being written: `start` and `end` are those of the expression before the dot.

    `typed` is what is written of the name, from `typed_start`. `scope` holds the `let ... in` and function heads
    around the expression, the outermost first.
    """

    start: int
    end: int
    typed: str
    typed_start: int
    scope: tuple[str, ...]


def find_selection(text: str, offset: int) -> Selection | None:
    """Return the selection that ends at an offset; None where there is none, or inside a comment or a text."""
    base = max(0, offset - 2_000)
    match = _SELECTION.search(text[base:offset])
    if match is None:
        return None
    head = Source("", text[: base + match.start()])
    outline = _Outline(head.text)
    end = 0
    try:
        for token in iterate_tokens(head):
            outline.add(token)
            end = token.end
    except DhallError:
        return None
    if outline.previous not in _OWNERS or outline.operand < 0 or head.text[end:].strip():
        return None
    typed_start = base + match.start(1)
    return Selection(outline.operand, end, match[1].lstrip("`"), typed_start, outline.list_scope())


@dataclass(slots=True)
class _Frame:
    """What is open at a place: a bracket, the value of a `let`, or the file.

    `scope` holds the bindings and function heads in it so far, `operand` where the operand begins that is being read
    (or -1), `function` where the head of a function begins whose arrow is yet to come (or -1).
    """

    kind: str
    start: int
    scope: list[str] = field(default_factory=list)
    operand: int = -1
    function: int = -1


class _Outline:
    """The open frames after the tokens so far."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.frames = [_Frame("", 0)]
        self.previous = ""

    @property
    def operand(self) -> int:
        return self.frames[-1].operand

    def list_scope(self) -> tuple[str, ...]:
        """Return the bindings and function heads of all open frames that are expressions, the outermost first."""
        return tuple(item for frame in self.frames for item in frame.scope if _is_binder(item))

    def add(self, token: Token) -> None:
        """Go past a token."""
        kind, frame = token.kind, self.frames[-1]
        if kind in _BRACKETS:
            self._begin_operand(token.start)
            self.frames.append(_Frame("{" if kind == "${" else kind, token.start))
        elif kind in _OPENERS:
            self._close(_OPENERS[kind])
        elif kind == "let":
            self._begin_binding(token.start)
        elif kind == "in":
            self._end_binding(token.start)
        elif kind in (",", "|"):
            self._begin_item()
        elif kind == "\\":
            frame.function = token.start
        elif kind == "->":
            if frame.function >= 0:
                frame.scope.append(self.text[frame.function : token.end])
            frame.function = frame.operand = -1
        elif kind in ("label", "quoted", "piece", "path", "nat"):
            self._begin_operand(token.start)
        elif kind != ".":
            frame.operand = -1
        self.previous = kind

    def _begin_operand(self, start: int) -> None:
        if self.previous != ".":
            self.frames[-1].operand = start

    def _close(self, opener: str) -> None:
        """Leave the innermost bracket of a kind; one that is not open is passed over."""
        for number in range(len(self.frames) - 1, 0, -1):
            if self.frames[number].kind == opener:
                del self.frames[number:]
                return

    def _begin_item(self) -> None:
        """Leave what the item before had open."""
        while len(self.frames) > 1 and self.frames[-1].kind == "let":
            self.frames.pop()
        frame = self.frames[-1]
        if frame.kind:
            frame.scope.clear()
        frame.operand = frame.function = -1

    def _begin_binding(self, start: int) -> None:
        if self.previous not in _BEFORE_OPERANDS:
            self._end_binding(start)
        self.frames.append(_Frame("let", start))

    def _end_binding(self, end: int) -> None:
        """Add the innermost binding to the scope around it; brackets open in it are given up, and it with them."""
        number = next((n for n in range(len(self.frames) - 1, 0, -1) if self.frames[n].kind == "let"), 0)
        if number == 0:
            return
        binding = self.text[self.frames[number].start : end]
        del self.frames[number:]
        self.frames[-1].scope.append(f"{binding.rstrip(' ')} in ")
        self.frames[-1].operand = -1


def _is_binder(text: str) -> bool:
    """Return whether a binding or function head is one when an expression follows."""
    try:
        parse(Source("", f"{text} True"))
    except DhallError:
        return False
    return True


def join_scope(scope: Iterable[str]) -> str:
    """Return the scope of a selection as the beginning of an expression."""
    return "".join(f"{item} " for item in scope)
