"""Describe errors as data: message, place, expected and found values, notes, a hint."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from assay_dhall.syntax import Node, Source

MAX_EXCERPT = 160
_FOREIGN_COMMENT = re.compile(r"\s*(?://|#)\s*[A-Za-z']+[,:;.]? [A-Za-z']+")


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a file: offsets in characters; lines and columns from 1; the end is exclusive."""

    file: str
    start: int
    end: int
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Problem:
    """One error.

    `code` is `parse`, `type`, `import`, `assert`, `budget` or `value`; `excerpt` is the line of the file; `related`
    are the places that notes name.
    """

    code: str
    message: str
    span: Span | None = None
    expected: str = ""
    found: str = ""
    notes: tuple[str, ...] = ()
    hint: str = ""
    excerpt: str = ""
    related: tuple[Span, ...] = ()

    def render(self) -> str:
        """Return the problem as text of several lines, with the line of the file and carets below it."""
        lines = [f"{_format_position(self.span)}{self.message}"]
        lines += [f"  {name}: {text}" for name, text in (("expected", self.expected), ("found", self.found)) if text]
        if self.span is not None and self.excerpt:
            width = self.span.end - self.span.start if self.span.end_line == self.span.line else len(self.excerpt)
            carets = max(1, min(width, len(self.excerpt) - self.span.column + 1))
            lines += [f"  | {self.excerpt}", f"  | {' ' * (self.span.column - 1)}{'^' * carets}"]
        lines += [f"  {note}" for note in self.notes]
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)


class DhallError(Exception):
    """One or more problems that end an evaluation."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(problem.render() for problem in self.problems))


class ReportedError(Exception):
    """An expression cannot be typed because of a problem that is already reported."""


def build_span(source: Source, start: int, end: int) -> Span:
    """Return the span of two offsets."""
    line, column = source.locate(start)
    end_line, end_column = source.locate(max(start, end))
    return Span(source.name, start, max(start, end), line, column, end_line, end_column)


def get_node_span(node: Node) -> Span:
    """Return the span of an expression."""
    return build_span(node.source, node.start, node.end)


def build_problem(
    code: str,
    source: Source,
    start: int,
    end: int,
    message: str,
    *,
    expected: str = "",
    found: str = "",
    notes: tuple[str, ...] = (),
    hint: str = "",
    related: tuple[Span, ...] = (),
) -> Problem:
    """Return a problem of a piece of a file."""
    span = build_span(source, start, end)
    line = source.get_line(span.line)
    excerpt = line if len(line) <= MAX_EXCERPT else ""
    return Problem(code, message, span, expected, found, notes, hint, excerpt, related)


def build_error(
    code: str,
    node: Node,
    message: str,
    *,
    expected: str = "",
    found: str = "",
    notes: tuple[str, ...] = (),
    hint: str = "",
) -> DhallError:
    """Return the error of an expression."""
    problem = build_problem(
        code, node.source, node.start, node.end, message, expected=expected, found=found, notes=notes, hint=hint
    )
    return DhallError([problem])


def place_error(error: DhallError, node: Node) -> DhallError:
    """Return an error with the place of an expression, unless it has one: errors of a budget have none."""
    (first, *others) = error.problems
    if others or first.span is not None or not node.source.text:
        return error
    return build_error(
        first.code, node, first.message, expected=first.expected, found=first.found, notes=first.notes, hint=first.hint
    )


def find_nearest(name: str, names: Iterable[str]) -> str:
    """Return the name most similar to another; empty if none is."""
    candidates = list(names)[:1000]
    lowered = [item for item in candidates if item.lower() == name.lower()]
    close = lowered or difflib.get_close_matches(name, candidates, 1)
    return close[0] if close else ""


def suggest(name: str, names: Iterable[str]) -> str:
    """Return `; did you mean ...?`; empty if no name is close."""
    close = find_nearest(name, names)
    return f"; did you mean `{close}`?" if close else ""


def find_comment_hint(source: Source, offset: int) -> str:
    """Return the hint for a line that another language reads as a comment; empty for other lines.

    The line is that of the first character at or after `offset` that is no space.
    """
    line = source.get_line(source.locate(len(source.text) - len(source.text[offset:].lstrip()))[0])
    return "a comment begins with `--`" if _FOREIGN_COMMENT.match(line) else ""


def _format_position(span: Span | None) -> str:
    return f"{span.file}:{span.line}:{span.column}: " if span else ""
