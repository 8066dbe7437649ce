"""Tables of a document as tables of a web page: what each cell is sorted by, and which definition it leads to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.report.document import Appendix, Gallery, Quoted, Section, Table

#: a number, perhaps in brackets, cut (`>`) or marked (`*`)
_NUMBER = re.compile(r"\(?([-−+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)>?\)?(?: \*)?")
#: widths of characters in widths of a digit, as the page's font has them
WIDTHS = {".": 0.5, "-": 0.63, "−": 1.0, " ": 0.4, "*": 0.84, ")": 0.61, ">": 1.0}
_NO_VALUE = ("", "-", "—", "–", "---", "nan", "NaN", "unknown")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its text, the number that it stands for (as Python and JavaScript write it; empty: none), and the id of
    the metric that it is a value of (empty: of none).

    `of` says in words which value it is; `marks` are what sets it apart; `room` is what the cell lacks behind its point
    beside others of its column, in widths of a digit.
    """

    text: str
    number: str = ""
    metric: str = ""
    of: str = ""
    room: float = 0.0
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Heading:
    """A column: its heading, the heading above it that it shares with others, how many share it (0: it is not the first
    of them), and whether it holds numbers."""

    text: str
    above: str = ""
    shared: int = 0
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of a page: the first column holds the labels of rows; rows at the foot are not sorted; `headings` is the
    entry of what the headings are values of."""

    caption: str
    columns: tuple[Heading, ...]
    rows: tuple[tuple[Cell, ...], ...]
    foot: tuple[tuple[Cell, ...], ...] = ()
    headings: str = ""

    @property
    def leads(self) -> bool:
        """Whether any cell leads to a definition."""
        return any(cell.metric for row in (*self.rows, *self.foot) for cell in row)


def paragraphs(gallery: Gallery, known: Mapping[str, object]) -> tuple[tuple[Cell, ...], ...]:
    """The paragraphs of a part, each as pieces; a quoted value leads to its entry where that is known."""
    return tuple(
        tuple(_pieces(text, [item for item in gallery.quoted if item.paragraph == place], known))
        for place, text in enumerate(gallery.text)
    )


def _pieces(text: str, quoted: Sequence[Quoted], known: Mapping[str, object]) -> Iterator[Cell]:
    done = 0
    for item in quoted:
        yield Cell(text[done : item.begin])
        entry = item.entry if item.entry in known else ""
        yield Cell(text[item.begin : item.end], metric=entry, of=item.of if entry else "")
        done = item.end
    yield Cell(text[done:])


def number(text: str) -> str:
    """The number that a cell's text stands for, as a text that programs read; empty when it stands for none."""
    found = _NUMBER.fullmatch(text)
    return repr(float(found[1].replace("−", "-"))) if found else ""


def _is_numeric(texts: Sequence[str]) -> bool:
    return any(map(number, texts)) and all(number(text) or text in _NO_VALUE for text in texts)


def metric_grid(section: Section, known: Mapping[str, object], otherwise: str = "") -> Grid:
    """The grid of a table of metrics; cells of metrics in `known` lead to their definitions, those of rows without a
    metric to the entry `otherwise`."""
    names = _names(section.header)
    rows = [
        tuple(_cell(text, _leads_to(metric, known, otherwise), row[0], name)
              for text, name in zip(row, names, strict=True))
        for metric, row in zip(section.metrics, section.rows, strict=True)
    ]  # fmt: skip
    last = len(rows)
    while last and section.metrics[last - 1] is None:
        last -= 1
    columns = _columns(section.header, section.rows)
    return Grid(section.title, columns, tuple(on_point(rows[:last])), tuple(rows[last:]))


def _leads_to(metric: str | None, known: Mapping[str, object], otherwise: str) -> str:
    if metric is None:
        return otherwise
    return metric if metric in known else ""


def _names(header: Sequence[str]) -> list[str]:
    """What each column is called by itself: a difference is that of the run before it."""
    names: list[str] = []
    for index, text in enumerate(header):
        run = header[index - (index - 2) % 3] if index > 1 else text
        names.append(text if index < 2 or text == run else f"{run} {text}")
    return names


def _columns(header: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[Heading, ...]:
    """Under one further run a heading a column; under more the run's label stands over its three."""
    numeric = [index > 0 and _is_numeric([row[index] for row in rows]) for index in range(len(header))]
    if len(header) <= 5:
        return tuple(map(Heading, header, [""] * len(header), [0] * len(header), numeric))
    found = [Heading(text, numeric=flag) for text, flag in zip(header[:2], numeric, strict=False)]
    for index in range(2, len(header)):
        place = (index - 2) % 3
        run = header[index - place]
        found.append(Heading(header[index] if place else "value", run, 0 if place else 3, numeric[index]))
    return tuple(found)


def on_point(rows: Sequence[Sequence[Cell]]) -> list[tuple[Cell, ...]]:
    """The rows with room behind each number, so that points stand below each other."""
    columns = range(len(rows[0])) if rows else ()
    widest = [max((_fraction(row[index]) for row in rows), default=0.0) for index in columns]
    return [
        tuple(
            replace(cell, room=round(widest[index] - _fraction(cell), 2)) if index and cell.number else cell
            for index, cell in enumerate(row)
        )
        for row in rows
    ]


def _fraction(cell: Cell) -> float:
    """How wide a number is from its point (or its exponent, or its mark) on, in widths of a digit."""
    found = re.search(r"[.e>) ]", cell.text) if cell.number else None
    return sum(WIDTHS.get(character, 1.0) for character in cell.text[found.start() :]) if found else 0.0


def _cell(text: str, metric: str, label: str, column: str) -> Cell:
    if not metric or text == label:
        return Cell(text, number(text), metric)
    return Cell(text, number(text), metric if number(text) else "", f"{label}; {column}")


def plain_grid(found: Table | Appendix, metrics: Mapping[str, str], known: Mapping[str, object] = {}) -> Grid:
    """The grid of any other table.

    Where the table names what its cells are values of, those that are in `known` lead there.  Else a number leads to a
    definition where its column's heading, or a text in its row, is the label of a metric (`metrics` has the ids by the
    labels).
    """
    numeric = [_is_numeric([row[index] for row in found.rows]) for index in range(len(found.header))]
    leads = _CellLinks(found, metrics, known, numeric)
    rows = [
        tuple(_plain_cell(found, leads, y, index, numeric[index]) for index in range(len(row)))
        for y, row in enumerate(found.rows)
    ]
    for mark in found.marks if isinstance(found, Table) else ():
        row = rows[mark.row]
        marked = replace(row[mark.column], marks=(*row[mark.column].marks, mark.kind))
        rows[mark.row] = (*row[: mark.column], marked, *row[mark.column + 1 :])
    columns = [Heading(text, numeric=numeric[at] and at > 0) for at, text in enumerate(found.header)]
    headings = found.of_headings if isinstance(found, Table) and found.of_headings in known else ""
    return Grid(found.title, tuple(columns), tuple(on_point(rows)), headings=headings)


@dataclass(frozen=True, slots=True)
class _CellLinks:
    """Where the cells of a table lead."""

    table: Table | Appendix
    metrics: Mapping[str, str]
    known: Mapping[str, object]
    numeric: Sequence[bool]

    def metric(self, y: int, index: int) -> str:
        """The entry that a cell leads to; empty: to none."""
        row = self.table.rows[y]
        if self.table.of_columns or (isinstance(self.table, Table) and self.table.of_rows):
            name = self._named(self.table, y, index) if _is_value(row[index]) or self._is_label(index) else ""
            return name if name in self.known else ""
        if row[index] in self.metrics:
            return self.metrics[row[index]]
        if not index or not self.numeric[index] or not number(row[index]):
            return ""
        of_row = next((self.metrics[text] for text in row if text in self.metrics), "")
        return self.metrics.get(self.table.header[index], of_row)

    def _is_label(self, index: int) -> bool:
        """Whether cells of a column say what the row is about."""
        return isinstance(self.table, Table) and index == 0 and bool(self.table.of_rows) and not self.table.of_columns

    @staticmethod
    def _named(table: Table | Appendix, y: int, index: int) -> str:
        of_column = table.of_columns[index] if table.of_columns else ""
        of_rows = table.of_rows if isinstance(table, Table) else ()
        return of_column or (of_rows[y] if of_rows else "")


def _is_value(text: str) -> bool:
    """Whether a text is a number, or begins like one: a date, a version."""
    return re.match(r"[-−+(]?\.?\d", text) is not None


def _plain_cell(found: Table | Appendix, leads: _CellLinks, y: int, index: int, numeric: bool) -> Cell:
    row = found.rows[y]
    metric = leads.metric(y, index)
    shown = Cell(row[index], number(row[index]) if numeric else "", metric)
    return replace(shown, of=_value_of(found, row, index)) if metric and _is_value(row[index]) else shown


def _value_of(found: Table | Appendix, row: Sequence[str], index: int) -> str:
    """Which value a cell is, in words."""
    place = ", ".join(part for part in (found.title, row[0] if index else "") if part)
    return f"{place}; {found.header[index]}"
