"""Diagnostics as data: code, message, place, expected, found, notes and hint."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a file; lines and columns count from 1, the end is exclusive."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    start: int = 0
    end: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem; `code` is `parse`, `type`, `import`, `budget` or `value`."""

    code: str
    message: str
    span: Span | None = None
    expected: str | None = None
    found: str | None = None
    notes: tuple[str, ...] = ()
    hint: str = ""
    excerpt: str = ""

    def __str__(self) -> str:
        lines = [f"{self.span}: {self.message}" if self.span else self.message]
        lines += [f"  {line}" for line in self.excerpt.splitlines()]
        lines += [f"  expected: {self.expected}"] if self.expected is not None else []
        lines += [f"  found:    {self.found}"] if self.found is not None else []
        lines += [f"  note: {note}" for note in self.notes]
        lines += [f"  hint: {self.hint}"] if self.hint else []
        return "\n".join(lines)


class DhallError(Exception):
    """An expression that cannot be read, typed, imported or evaluated within its budget.

    `recoverable` is true where the standard lets the operator `?` try its right side.
    """

    def __init__(self, *diagnostics: Diagnostic, recoverable: bool = False) -> None:
        super().__init__("\n\n".join(map(str, diagnostics)))
        self.diagnostics = diagnostics
        self.recoverable = recoverable
        self.files_read: tuple[str, ...] = ()


def suggest(name: str, names: Iterable[str]) -> str:
    """Propose the nearest of the names, or list them where none is near."""
    names = sorted(set(names))
    near = difflib.get_close_matches(name, names, 1) or [each for each in names if each.lower() == name.lower()]
    if near:
        return f"did you mean `{near[0]}`?"
    if not names:
        return ""
    listed = ", ".join(f"`{each}`" for each in names[:8])
    return f"there are {listed}" + (", …" if len(names) > 8 else "") if len(names) > 1 else f"there is {listed}"
