"""Read a publication file into `Publication`.

docs/publications.md says what such a file holds.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from assay.lang.check.reports import is_day
from assay.publication.model import Explained, Facts, Figure, MetricRow, Points, Publication, Table
from assay.util.diagnostics import Diagnostic, Span, fail, raise_all
from assay.util.json_text import parse_json
from assay.util.numbers import parse_decimal
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
    return cell in (MISSING, *UNDEFINED) or parse_decimal(cell) is not None


def truncate_value(value: object) -> str:
    """A value as it stands in the file, cut."""
    return json.dumps(value, ensure_ascii=False)[:80]


def _cells(count: int) -> str:
    return f"{count} cell" if count == 1 else f"{count} cells"


def load(path: Path) -> tuple[Any, str]:
    """The data and the text of a JSON file; AssayError when it cannot be read, or is no JSON."""
    try:
        text = resolve_path(path).read_text(encoding="utf-8")
        return parse_json(text), text
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


POINTS_SUFFIX = ".cdf.json"


def read(path: Path) -> Publication:
    """The publication of a file, with the points of its charts where a file `<name>.cdf.json` stands beside it.

    Raises AssayError `publication` with every problem: file, section and row, what was expected and found.
    """
    data, text = load(path)
    shape = Shape(path, text)
    runs = shape.texts(data, "runs", "the publication", ())
    if not runs and not shape.problems:
        shape.problem("the publication names no run", expected="the label of each run under `runs`")
    raise_all(shape.problems)
    found = Publication(
        **{name: shape.member(data, name, str, "the publication") for name in _TEXTS},
        runs=runs,
        manifest=tuple(_facts(shape, item, runs) for item in shape.member(data, "manifest", list, "the publication")),
        tables=tuple(_table(shape, item, runs) for item in shape.member(data, "sections", list, "the publication")),
        figures=tuple(_figure(shape, item) for item in shape.member(data, "charts", list, "the publication")),
        dictionary=_dictionary(shape, shape.member(data, "dictionary", dict, "the publication")),
        notes=tuple(note for key in ("problems", "notes") for note in shape.texts(data, key, "the publication", ())),
        points=_points(points_file(path), runs),
    )
    if not is_day(found.day):
        shape.problem(
            "`date` of the publication does not begin with a day that exists",
            at=["date"],
            expected="YYYY-MM-DD",
            found=found.date,
        )
    raise_all(shape.problems)
    return found


def points_file(path: Path) -> Path:
    """Where the points of a publication's charts stand, if they are known."""
    return path.with_name(path.name.removesuffix(".json") + POINTS_SUFFIX)


_TEXTS = ("source", "title", "author", "date", "workload", "subtitle", "intro")


def _facts(shape: Shape, data: Any, runs: tuple[str, ...]) -> Facts:
    label = shape.member(data, "label", str, "a row of the manifest")
    return Facts(label, shape.texts(data, "values", f"manifest, row `{label}`", (label,), len(runs)))


def _table(shape: Shape, data: Any, runs: tuple[str, ...]) -> Table:
    title = shape.member(data, "title", str, "a section")
    what = f"section `{title}`"
    columns = [runs[0], *(part for run in runs[1:] for part in (run, "Δ", "Δ%"))]
    found = shape.texts(data, "columns", what, (title,))
    if list(found) != columns:
        shape.problem(
            f"{what} has other columns than the publication's runs give it",
            at=(title, "columns"),
            expected=" | ".join(columns),
            found=" | ".join(found),
        )
    rows = tuple(_row(shape, item, title, len(runs)) for item in shape.member(data, "rows", list, what, (title,)))
    counts = data.get("sample_count") if isinstance(data, dict) else None
    told = () if counts is None else shape.texts(data, "sample_count", what, (title,), len(runs))
    return Table(title, rows, told)


def _row(shape: Shape, data: Any, title: str, runs: int) -> MetricRow:
    label = shape.member(data, "label", str, f"a row of section `{title}`", (title,))
    what, at = f"section `{title}`, row `{label}`", (title, label)
    unit = shape.member(data, "unit", str, what, at)
    cells = {
        key: shape.texts(data, key, what, at, count)
        for key, count in (("values", runs), ("deltas", runs - 1), ("delta_pcts", runs - 1))
    }
    for key, texts in cells.items():
        shape.numbers(texts, key, what, at)
    return MetricRow(label, unit, cells["values"], cells["deltas"], cells["delta_pcts"])


def _figure(shape: Shape, data: Any) -> Figure:
    metric = shape.member(data, "id", str, "a chart")
    number = shape.member(data, "figure", int, f"chart `{metric}`", (metric,))
    return Figure(number, metric, shape.member(data, "caption", str, f"chart `{metric}`", (metric,)))


def _dictionary(shape: Shape, data: dict[str, Any]) -> tuple[tuple[str, tuple[Explained, ...]], ...]:
    return tuple(
        (title, tuple(_explained(shape, item, title) for item in shape.member(data, title, list, "the dictionary")))
        for title in data
    )


def _explained(shape: Shape, data: Any, title: str) -> Explained:
    metric = shape.member(data, "id", str, f"an entry of the dictionary under `{title}`", (title,))
    what, at = f"dictionary entry `{metric}`", (title, metric)
    return Explained(metric, *(shape.member(data, key, str, what, at) for key in ("name", "description")))


def _points(path: Path, runs: tuple[str, ...]) -> Points:
    """The plotted points beside a publication; none where there is no such file."""
    if not path.is_file():
        return {}
    data, text = load(path)
    shape = Shape(path, text)
    found: Points = {}
    if not isinstance(data, dict):
        shape.problem(
            "the plotted points are not an object", expected="metric: { run: points }", found=truncate_value(data)
        )
        data = {}
    for metric in data:
        lines = shape.member(data, metric, dict, "the plotted points", (metric,))
        if set(lines) != set(runs):
            shape.problem(
                f"the points of chart `{metric}` are of other runs than the publication's",
                at=(metric,),
                expected=", ".join(runs),
                found=", ".join(lines),
            )
        found[metric] = {run: _line(shape, line, metric, run) for run, line in lines.items()}
    raise_all(shape.problems)
    return found


def _line(shape: Shape, data: Any, metric: str, run: str) -> tuple[tuple[float, float], ...]:
    what, at = f"the points of run `{run}` in chart `{metric}`", (metric, run)
    good = isinstance(data, list) and all(
        isinstance(point, list)
        and len(point) == 2
        and all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in point)
        for point in data
    )
    if not good:
        shape.problem(
            f"{what} are not pairs of numbers", at=at, expected="[[value, centile], ...]", found=truncate_value(data)
        )
        return ()
    points = tuple((float(value), float(centile)) for value, centile in data)
    if any(b[1] <= a[1] or b[0] < a[0] for a, b in pairwise(points)):
        shape.problem(f"{what} do not ascend", at=at, expected="centiles that grow, values that do not fall")
    return points
