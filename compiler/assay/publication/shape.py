"""Plain data of a publication file, looked at with care: problems name the file, and the section and row."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.util.diagnostics import Diagnostic, Span, fail
from assay.util.json_document import parsed
from assay.util.numbers import decimal
from assay.util.paths import resolve_path

MISSING = "—"
UNDEFINED = ("nan", "NaN")


@dataclass(slots=True)
class Shape:
    """A publication file being read: its text, and the problems found so far."""

    path: Path
    text: str
    problems: list[Diagnostic] = field(default_factory=list)

    def problem(
        self, message: str, *, at: Sequence[str] = (), expected: str = "", found: str = "", hint: str = ""
    ) -> None:
        """Note a problem; `at` are the strings that lead to its place, outermost first."""
        self.problems.append(
            Diagnostic("publication", message, self.span(at), expected=expected, found=found, hint=hint)
        )

    def span(self, at: Sequence[str]) -> Span:
        """Where strings stand in the file, each looked for after the one before it; as far as they are found."""
        place, last = 0, -1
        for word in at:
            found = self.text.find(json.dumps(word, ensure_ascii=False), place)
            if found < 0:
                break
            place = last = found
        if last < 0:
            return Span(str(self.path))
        line = self.text.count("\n", 0, last) + 1
        return Span(str(self.path), line, last - self.text.rfind("\n", 0, last))

    def member(self, record: Any, key: str, kind: type, what: str, at: Sequence[str] = ()) -> Any:
        """A member of a record, of a kind; an empty one of that kind where it is missing or of another."""
        if not isinstance(record, dict):
            self.problem(f"{what} is not an object", at=at, expected="{ ... }", found=truncate_value(record))
            return kind()
        value = record.get(key)
        if not isinstance(value, kind) or isinstance(value, bool):
            said = "is missing" if key not in record else "is of the wrong kind"
            self.problem(f"`{key}` of {what} {said}", at=at, expected=KINDS[kind], found=truncate_value(value))
            return kind()
        return value

    def texts(self, record: Any, key: str, what: str, at: Sequence[str], count: int | None = None) -> tuple[str, ...]:
        """A list of texts, of a length where one is given."""
        found = self.member(record, key, list, what, at)
        at = (*at, key)
        for item in found:
            if not isinstance(item, str):
                said = "a value is missing" if item is None else "a value is not a text"
                self.problem(
                    f"{what}: {said} among `{key}`", at=at, expected="a printed cell", found=truncate_value(item)
                )
                return ("",) * (len(found) if count is None else count)
        if count is not None and len(found) != count:
            self.problem(
                f"{what}: `{key}` has {_cells(len(found))} where {count} {'is' if count == 1 else 'are'} due",
                at=at,
                expected=f"{_cells(count)}",
                found=", ".join(found) or "none",
            )
            return ("",) * count
        return tuple(found)

    def numbers(self, cells: Sequence[str], key: str, what: str, at: Sequence[str]) -> None:
        """See that printed cells are numbers, or stand for one that is missing or undefined."""
        for cell in cells:
            if cell and not is_number(cell):
                self.problem(
                    f"{what}: a cell of `{key}` is not a number",
                    at=(*at, key),
                    expected=f"a printed number, {' or '.join((MISSING, *UNDEFINED))}",
                    found=cell,
                )


KINDS: dict[type, str] = {str: "a text", list: "a list", dict: "an object", int: "an integer"}


def is_number(cell: str) -> bool:
    """Whether a printed cell is a finite number, or stands for one that is missing or undefined."""
    return cell in (MISSING, *UNDEFINED) or decimal(cell) is not None


def truncate_value(value: object) -> str:
    """A value as it stands in the file, cut."""
    return json.dumps(value, ensure_ascii=False)[:80]


def _cells(count: int) -> str:
    return f"{count} cell" if count == 1 else f"{count} cells"


def load(path: Path) -> tuple[Any, str]:
    """The data and the text of a JSON file; AssayError when it cannot be read, or is no JSON."""
    try:
        text = resolve_path(path).read_text(encoding="utf-8")
        return parsed(text), text
    except OSError as error:
        raise fail("publication", f"the publication cannot be read: {error.strerror}: {path}") from None
    except UnicodeDecodeError as error:
        raise fail("publication", f"{path.name} is not UTF-8: {error.reason}", span=Span(str(path))) from None
    except json.JSONDecodeError as error:
        span = Span(str(path), error.lineno, error.colno)
        raise fail("publication", f"{path.name} is not JSON: {error.msg}", span=span) from None
    except (ValueError, RecursionError) as error:
        cause = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
        raise fail("publication", f"{path.name} cannot be read as JSON: {cause}", span=Span(str(path))) from None
