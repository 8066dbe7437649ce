"""Read a publication file into `Publication`; docs/publications.md describes the format."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from assay.lang.check.reports import is_day
from assay.number_styles.cell_text import CellText, print_number
from assay.publication.model import DictionaryEntry, Facts, Figure, MetricRow, Points, Publication, Table
from assay.util.diagnostics import Diagnostic, Span, fail, raise_all
from assay.util.json_text import parse_json
from assay.util.numbers import parse_decimal
from assay.util.paths import resolve_path

MISSING = "—"
UNDEFINED = ("nan", "NaN")


@dataclass(slots=True)
class StructureChecker:
    """A checker of the structure of a publication file, which collects its problems."""

    path: Path
    text: str
    problems: list[Diagnostic] = field(default_factory=list)

    def add_problem(
        self, message: str, *, location: Sequence[str] = (), expected: str = "", actual: str = "", hint: str = ""
    ) -> None:
        """Add a problem; `location` are the strings that lead to its position, outermost first."""
        self.problems.append(
            Diagnostic("publication", message, self.find_span(location), expected=expected, found=actual, hint=hint)
        )

    def find_span(self, location: Sequence[str]) -> Span:
        """Return the position of the last string of `location` that occurs after those before it."""
        start, last_position = 0, -1
        for word in location:
            position = self.text.find(json.dumps(word, ensure_ascii=False), start)
            if position < 0:
                break
            start = last_position = position
        if last_position < 0:
            return Span(str(self.path))
        line = self.text.count("\n", 0, last_position) + 1
        return Span(str(self.path), line, last_position - self.text.rfind("\n", 0, last_position))

    def get_member(self, record: Any, key: str, kind: type, owner: str, location: Sequence[str] = ()) -> Any:
        """Return a member of a record.

        If it is missing or of another kind, add a problem and return an empty value of its kind.
        """
        if not isinstance(record, dict):
            self.add_problem(
                f"{owner} is not an object", location=location, expected="{ ... }", actual=truncate_value(record)
            )
            return kind()
        value = record.get(key)
        if not isinstance(value, kind) or isinstance(value, bool):
            problem = "is missing" if key not in record else "is of the wrong kind"
            self.add_problem(
                f"`{key}` of {owner} {problem}", location=location, expected=KINDS[kind], actual=truncate_value(value)
            )
            return kind()
        return value

    def get_texts(
        self, record: Any, key: str, owner: str, location: Sequence[str], count: int | None = None
    ) -> tuple[str, ...]:
        """Return a list of texts, of length `count` if it is given."""
        items = self.get_member(record, key, list, owner, location)
        location = (*location, key)
        for item in items:
            if not isinstance(item, str):
                problem = "a value is missing" if item is None else "a value is not a text"
                self.add_problem(
                    f"{owner}: {problem} among `{key}`",
                    location=location,
                    expected="a printed cell",
                    actual=truncate_value(item),
                )
                return ("",) * (len(items) if count is None else count)
        if count is not None and len(items) != count:
            self.add_problem(
                f"{owner}: `{key}` has {_format_count(len(items))} instead of {count}",
                location=location,
                expected=f"{_format_count(count)}",
                actual=", ".join(items) or "none",
            )
            return ("",) * count
        return tuple(items)

    def check_numbers(self, cells: Sequence[str], key: str, owner: str, location: Sequence[str]) -> None:
        """Check that printed cells are numbers, or mark a missing or undefined one."""
        for cell in cells:
            if cell and not is_number(cell):
                self.add_problem(
                    f"{owner}: a cell of `{key}` is not a number",
                    location=(*location, key),
                    expected=f"a printed number, {' or '.join((MISSING, *UNDEFINED))}",
                    actual=cell,
                )


KINDS: dict[type, str] = {str: "a text", list: "a list", dict: "an object", int: "an integer"}


#: a number, optionally in brackets or cut (`>`)
_NUMBER = re.compile(r"\(?([-−+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)>?\)?")


def read_cell(text: str) -> str:
    """Return the printed text of a cell of a publication, with its number if it is one."""
    match = _NUMBER.fullmatch(text)
    number = print_number(match[1].replace("−", "-")) if match else ""
    return CellText(text, number.value) if isinstance(number, CellText) else text


def is_number(cell: str) -> bool:
    """Check that a printed cell is a finite number, or marks a missing or undefined one."""
    return cell in (MISSING, *UNDEFINED) or parse_decimal(cell) is not None


def truncate_value(value: object) -> str:
    """Format a value as in the file, cut to 80 characters."""
    return json.dumps(value, ensure_ascii=False)[:80]


def _format_count(count: int) -> str:
    return f"{count} cell" if count == 1 else f"{count} cells"


def load_json_file(path: Path) -> tuple[Any, str]:
    """Return the data and the text of a JSON file.  Raises AssayError: it cannot be read, or is no JSON."""
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


def read_publication(path: Path) -> Publication:
    """Read a publication, with the points of its charts if a file `<name>.cdf.json` is next to it.

    Raises AssayError `publication` with every problem: file, section and row, what was expected and found.
    """
    data, text = load_json_file(path)
    checker = StructureChecker(path, text)
    runs = checker.get_texts(data, "runs", "the publication", ())
    if not runs and not checker.problems:
        checker.add_problem("the publication names no run", expected="the label of each run under `runs`")
    raise_all(checker.problems)
    publication = Publication(
        **{name: checker.get_member(data, name, str, "the publication") for name in _TEXTS},
        runs=runs,
        manifest=tuple(
            _read_facts(checker, item, runs) for item in checker.get_member(data, "manifest", list, "the publication")
        ),
        tables=tuple(
            _read_table(checker, item, runs) for item in checker.get_member(data, "sections", list, "the publication")
        ),
        figures=tuple(
            _read_figure(checker, item) for item in checker.get_member(data, "charts", list, "the publication")
        ),
        dictionary=_read_dictionary(checker, checker.get_member(data, "dictionary", dict, "the publication")),
        notes=tuple(
            note for key in ("problems", "notes") for note in checker.get_texts(data, key, "the publication", ())
        ),
        points=_read_points(get_points_path(path), runs),
    )
    if not is_day(publication.day):
        checker.add_problem(
            "`date` of the publication does not begin with a valid day",
            location=["date"],
            expected="YYYY-MM-DD",
            actual=publication.date,
        )
    raise_all(checker.problems)
    return publication


def get_points_path(path: Path) -> Path:
    """Return the path of the points of a publication's charts."""
    return path.with_name(path.name.removesuffix(".json") + POINTS_SUFFIX)


_TEXTS = ("source", "title", "author", "date", "workload", "subtitle", "intro")


def _read_facts(checker: StructureChecker, data: Any, runs: tuple[str, ...]) -> Facts:
    label = checker.get_member(data, "label", str, "a row of the manifest")
    return Facts(label, checker.get_texts(data, "values", f"manifest, row `{label}`", (label,), len(runs)))


def _read_table(checker: StructureChecker, data: Any, runs: tuple[str, ...]) -> Table:
    title = checker.get_member(data, "title", str, "a section")
    owner = f"section `{title}`"
    columns = [runs[0], *(part for run in runs[1:] for part in (run, "Δ", "Δ%"))]
    header = checker.get_texts(data, "columns", owner, (title,))
    if list(header) != columns:
        checker.add_problem(
            f"the columns of {owner} do not match the runs of the publication",
            location=(title, "columns"),
            expected=" | ".join(columns),
            actual=" | ".join(header),
        )
    rows = tuple(
        _read_row(checker, item, title, len(runs)) for item in checker.get_member(data, "rows", list, owner, (title,))
    )
    counts = data.get("sample_count") if isinstance(data, dict) else None
    sample_counts = () if counts is None else checker.get_texts(data, "sample_count", owner, (title,), len(runs))
    return Table(title, rows, sample_counts)


def _read_row(checker: StructureChecker, data: Any, title: str, runs: int) -> MetricRow:
    label = checker.get_member(data, "label", str, f"a row of section `{title}`", (title,))
    owner, location = f"section `{title}`, row `{label}`", (title, label)
    unit = checker.get_member(data, "unit", str, owner, location)
    cells = {
        key: checker.get_texts(data, key, owner, location, count)
        for key, count in (("values", runs), ("deltas", runs - 1), ("delta_pcts", runs - 1))
    }
    for key, texts in cells.items():
        checker.check_numbers(texts, key, owner, location)
    return MetricRow(label, unit, cells["values"], cells["deltas"], cells["delta_pcts"])


def _read_figure(checker: StructureChecker, data: Any) -> Figure:
    metric = checker.get_member(data, "id", str, "a chart")
    number = checker.get_member(data, "figure", int, f"chart `{metric}`", (metric,))
    return Figure(number, metric, checker.get_member(data, "caption", str, f"chart `{metric}`", (metric,)))


def _read_dictionary(
    checker: StructureChecker, data: dict[str, Any]
) -> tuple[tuple[str, tuple[DictionaryEntry, ...]], ...]:
    return tuple(
        (
            title,
            tuple(
                _read_entry(checker, item, title) for item in checker.get_member(data, title, list, "the dictionary")
            ),
        )
        for title in data
    )


def _read_entry(checker: StructureChecker, data: Any, title: str) -> DictionaryEntry:
    metric = checker.get_member(data, "id", str, f"an entry of the dictionary under `{title}`", (title,))
    owner, location = f"dictionary entry `{metric}`", (title, metric)
    return DictionaryEntry(
        metric, *(checker.get_member(data, key, str, owner, location) for key in ("name", "description"))
    )


def _read_points(path: Path, runs: tuple[str, ...]) -> Points:
    """Return the plotted points of a publication; none if there is no such file."""
    if not path.is_file():
        return {}
    data, text = load_json_file(path)
    checker = StructureChecker(path, text)
    points: Points = {}
    if not isinstance(data, dict):
        checker.add_problem(
            "the plotted points are not an object", expected="metric: { run: points }", actual=truncate_value(data)
        )
        data = {}
    for metric in data:
        lines = checker.get_member(data, metric, dict, "the plotted points", (metric,))
        if set(lines) != set(runs):
            checker.add_problem(
                f"the points of chart `{metric}` do not match the runs of the publication",
                location=(metric,),
                expected=", ".join(runs),
                actual=", ".join(lines),
            )
        points[metric] = {run: _read_line(checker, line, metric, run) for run, line in lines.items()}
    raise_all(checker.problems)
    return points


def _read_line(checker: StructureChecker, data: Any, metric: str, run: str) -> tuple[tuple[float, float], ...]:
    owner, location = f"the points of run `{run}` in chart `{metric}`", (metric, run)
    is_valid = isinstance(data, list) and all(
        isinstance(point, list)
        and len(point) == 2
        and all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in point)
        for point in data
    )
    if not is_valid:
        checker.add_problem(
            f"{owner} are not pairs of numbers",
            location=location,
            expected="[[value, centile], ...]",
            actual=truncate_value(data),
        )
        return ()
    points = tuple((float(value), float(centile)) for value, centile in data)
    if any(b[1] <= a[1] or b[0] < a[0] for a, b in pairwise(points)):
        checker.add_problem(
            f"{owner} do not ascend", location=location, expected="rising centiles, values that never fall"
        )
    return points
