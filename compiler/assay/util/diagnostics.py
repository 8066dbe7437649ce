"""Report problems: message, place, expected and found values, a hint.

Every stage reports problems as `Diagnostic` values, raised together in one `AssayError`; they are rendered once, by the
command line.  Exit status: 1 specs or data are wrong, 2 usage, 3 a difference, 4 a closed gate, 70 a bug in Assay.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.util.escape import escape_text

SPECS_OR_DATA = 1
USAGE = 2
DIFFERENCE = 3
CLOSED_GATE = 4
INTERNAL = 70

#: maximal number of characters of an excerpt
WIDEST = 120


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a text file: 1-based line and column; `length` columns are underlined (0: none).

    Without a `file` it is a place in the text that the problem is about.
    """

    file: str
    line: int = 0
    column: int = 0
    length: int = 0

    def __str__(self) -> str:
        if not self.file:
            return f"line {self.line}, column {self.column}"
        parts = [self.file]
        if self.line:
            parts.append(str(self.line))
            if self.column:
                parts.append(str(self.column))
        return ":".join(parts)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem.

    `code` is stable and short (`unknown-metric`); `message` is one line without a full stop; `expected` and `found`
    complete it if both are known; `hint` suggests a fix.  `related` are the places that notes and hint mention.
    `text` is the text that the place is in, where no file is known yet (the SQL of a query); a later stage adds the
    file.
    """

    code: str
    message: str
    span: Span | None = None
    excerpt: str = ""
    expected: str = ""
    found: str = ""
    hint: str = ""
    notes: tuple[str, ...] = ()
    severity: str = "error"
    text: str = ""
    related: tuple[Span, ...] = ()

    @property
    def excerpt_text(self) -> str:
        """Return the excerpt, or else the line of `text` at the place."""
        if self.excerpt or not self.text or not self.span:
            return self.excerpt
        return format_excerpt(self.text.splitlines(), self.span.line, self.span.column, self.span.length)

    def to_json(self) -> dict[str, object]:
        """Return the problem as plain data, without empty keys."""
        location: dict[str, object] = {}
        if self.span:
            location = {"file": self.span.file, "line": self.span.line, "column": self.span.column}
        pairs: list[tuple[str, object]] = [
            ("severity", self.severity),
            ("code", self.code),
            ("message", self.message),
            ("where", location),
            ("excerpt", self.excerpt_text),
            ("expected", self.expected),
            ("found", self.found),
            ("hint", self.hint),
            ("notes", list(self.notes)),
        ]
        return {key: value for key, value in pairs if value}


class AssayError(Exception):
    """One or more problems that end a stage; `status` is the exit status of the command."""

    def __init__(self, diagnostics: Sequence[Diagnostic], status: int = SPECS_OR_DATA) -> None:
        super().__init__(diagnostics, status)
        self.diagnostics = tuple(diagnostics)
        self.status = status

    def __str__(self) -> str:
        return "\n\n".join(render(item) for item in self.diagnostics)


def fail(
    code: str,
    message: str,
    *,
    span: Span | None = None,
    excerpt: str = "",
    expected: str = "",
    found: str = "",
    hint: str = "",
    notes: Sequence[str] = (),
    status: int = SPECS_OR_DATA,
    text: str = "",
) -> AssayError:
    """Return an error with one problem, to be raised."""
    item = Diagnostic(code, message, span, excerpt, expected, found, hint, tuple(notes), text=text)
    return AssayError((item,), status)


def raise_all(problems: Iterable[Diagnostic], status: int = SPECS_OR_DATA) -> None:
    """Raise all problems of a stage together if there is an error among them.  Warnings alone do not raise."""
    items = tuple(problems)
    if any(item.severity == "error" for item in items):
        raise AssayError(items, status)


def render(item: Diagnostic) -> str:
    """Return a problem as text: code and message, place, excerpt, expected and found, notes, hint."""
    # Escaped, the message is one line even if a name in it has line ends.
    lines = [f"{item.severity}[{item.code}]: {escape_text(item.message)}"]
    if item.span:
        lines.append(f"  at {escape_text(str(item.span))}")
    lines.extend(f"    {line}".rstrip() for line in item.excerpt_text.splitlines())
    if item.expected:
        lines.append(f"  expected: {item.expected}")
    if item.found:
        lines.append(f"  found:    {item.found}")
    lines.extend(f"  note: {note}" for note in item.notes)
    if item.hint:
        lines.append(f"  hint: {item.hint}")
    return "\n".join(lines)


def suggest_names(word: str, candidates: Iterable[str]) -> str:
    """Return a hint with the nearest of the candidates; without a near one, with at most 12 of all."""
    import difflib

    names = sorted(set(candidates))
    lowered = {name.lower(): name for name in reversed(names)}
    near = _select_nearest(word.lower(), difflib.get_close_matches(word.lower(), list(lowered), n=3, cutoff=0.6))
    if near:
        return "did you mean " + " or ".join(f"`{lowered[item]}`" for item in near) + "?"
    if not names:
        return "there are none"
    more = f" and {len(names) - 12} more" if len(names) > 12 else ""
    return "there are " + ", ".join(f"`{name}`" for name in names[:12]) + more


def suggest_nearest(word: str, candidates: Iterable[str]) -> str:
    """Return a hint with the nearest of the candidates; empty without a near one."""
    hint = suggest_names(word, candidates)
    return hint if hint.startswith("did you mean") else ""


def _select_nearest(word: str, near: Sequence[str]) -> list[str]:
    """Return those of the near words (best first) that are about as near as the best."""
    import difflib

    ratios = [difflib.SequenceMatcher(None, name, word).ratio() for name in near]
    return [name for name, ratio in zip(near, ratios, strict=True) if ratio > ratios[0] - 0.15]


def read_excerpt(path: Path, line: int, column: int, length: int = 1) -> str:
    """Return a line of a file with its number and a line of carets; empty if the file cannot be read."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return format_excerpt(lines, line, column, length)


def format_excerpt(lines: Sequence[str], line: int, column: int, length: int = 1) -> str:
    """Return a line with its number and a line of carets below; empty when there is no such line.

    A line longer than `WIDEST` characters is truncated around the caret, with `…` at the ends.
    """
    if not 1 <= line <= len(lines):
        return ""
    text, begin, end = _select_window(lines[line - 1], max(column - 1, 0), max(length, 1))
    caret = " " * (len(str(line)) + 1) + "| " + " " * begin + "^" * (end - begin)
    return f"{line} | {text}\n{caret}"


def _select_window(text: str, begin: int, length: int) -> tuple[str, int, int]:
    """Return the part of a line that is shown, and the begin and end of the underlined characters in it."""
    if len(text) <= WIDEST:
        return text, begin, begin + length
    underlined = min(length, WIDEST - 2)
    first = max(0, min(begin - (WIDEST - underlined) // 2, len(text) - WIDEST))
    last = first + WIDEST
    part = "…" * (first > 0) + text[first + (first > 0) : last - (last < len(text))] + "…" * (last < len(text))
    return part, begin - first, begin - first + underlined
