"""Convert tables of a document for a web page: the sort key of each cell, and the definition it links to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.lang.segments import list_values_of_segment
from assay.number_styles.cell_text import CellValue
from assay.report.cell_links import VERDICT
from assay.report.judged_cells import mark_changes
from assay.report.render.packed_rows import pack_column
from assay.report.tables import Appendix, MetricTable, Table, get_cell_value, list_number_columns, select_rows

#: widths of characters in the page's font, in widths of a digit
WIDTHS = {".": 0.5, "-": 0.63, "−": 1.0, " ": 0.4, "*": 0.84, ")": 0.61, ">": 1.0}


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its text, the number to sort by as JavaScript reads it, and the id of its metric (each empty: none).
    `of` describes the value in words, `marks` are its highlights, `room` is the space after the number that aligns it
    with the decimal points of its column, in widths of a digit. A cell that is no number may be sorted by one.
    """

    text: str
    number: str = ""
    metric: str = ""
    of: str = ""
    room: float = 0.0
    marks: tuple[str, ...] = ()
    is_number: bool = False


@dataclass(frozen=True, slots=True)
class Heading:
    """A column: its heading, the common heading above it, and whether it holds numbers.

    `shared` is the number of columns under the common heading, or 0 if this is not the first of them. `run` is the
    label of the run that the column is about, if it is about one.
    """

    text: str
    above: str = ""
    shared: int = 0
    numeric: bool = False
    run: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of a page: the first column holds the labels of rows, rows at the foot are not sorted.

    `headings` is the entry whose values the headings are. `names` are metrics or labels of rows, `row_ids` their ids
    in the page, `values` their values of dimensions.
    """

    caption: str
    columns: tuple[Heading, ...]
    rows: tuple[tuple[Cell, ...], ...]
    foot: tuple[tuple[Cell, ...], ...] = ()
    headings: str = ""
    names: tuple[str, ...] = ()
    row_ids: tuple[str, ...] = ()
    values: tuple[Mapping[str, str], ...] = ()

    @property
    def leads(self) -> bool:
        """Whether any cell links to a definition."""
        return any(cell.metric for row in (*self.rows, *self.foot) for cell in row)


def identify_rows(grid: Grid, anchor: str, runs: Sequence[str]) -> Grid:
    """Return a grid whose rows have ids that begin with `anchor` and are stable, and its columns their runs.

    The id of a row is that of its metric, or its label. Rows of one name are numbered.
    """
    names = ["-".join(name.split()) for name in grid.names]
    row_ids = [
        f"{anchor}-{name}" + (f"-{count}" if (count := names[:index].count(name) + 1) > 1 else "")
        for index, name in enumerate(names)
    ]
    columns = [
        column if column.run else replace(column, run=next((x for x in (column.text, column.above) if x in runs), ""))
        for column in grid.columns
    ]
    values = tuple(map(list_values_of_segment, grid.names))
    return replace(grid, columns=tuple(columns), row_ids=tuple(row_ids), values=values)


def format_number(value: CellValue) -> str:
    """Return the number of a cell in a form that programs read; empty for an interval or a text."""
    return "" if value is None or isinstance(value, tuple) else repr(float(value))


def _list_numeric_columns(table: Table | Appendix) -> list[bool]:
    """Return for each column whether its cells print numbers."""
    columns = set(list_number_columns(table))
    return [column in columns for column in range(len(table.header))]


def build_metric_grid(table: MetricTable, entries: Mapping[str, object], otherwise: str = "") -> Grid:
    """Return the grid of a table of metrics.

    Cells of metrics in `entries` link to their definitions, those of rows without a metric to the entry `otherwise`.
    """
    names = _name_columns(table.header, table.columns_per_run)
    marks = mark_changes(table)
    rows = [
        tuple(
            replace(cell, marks=(mark,) if mark else ())
            for cell, mark in zip(
                _list_metric_cells(table, number, names, _find_entry(metric, entries, otherwise)),
                marks[number],
                strict=True,
            )
        )
        for number, metric in enumerate(table.metrics)
    ]
    last = len(rows)
    while last and table.metrics[last - 1] is None:
        last -= 1
    labels = [*table.header[:2], *(table.header[_find_label(table, index)] for index in range(2, len(names)))]
    columns = [replace(heading, run=run) for heading, run in zip(_build_headings(table), labels, strict=True)]
    grid_rows = tuple(align_decimal_points(rows[:last]))
    ids = tuple(metric or "" for metric in table.metrics[:last])
    return Grid(table.title, tuple(columns), grid_rows, tuple(rows[last:]), names=ids)


def _find_label(table: MetricTable, index: int) -> int:
    """Return the index of the column with the label of the run that a column is about."""
    return index - (index - 2) % table.columns_per_run


def _find_entry(metric: str | None, entries: Mapping[str, object], otherwise: str) -> str:
    if metric is None:
        return otherwise
    return metric if metric in entries else ""


def _name_columns(header: Sequence[str], columns_per_run: int) -> list[str]:
    """Return an unambiguous name per column; a difference belongs to the run before it."""
    names: list[str] = []
    for index, text in enumerate(header):
        run = header[index - (index - 2) % columns_per_run] if index > 1 else text
        names.append(text if index < 2 or text == run else f"{run} {text}")
    return names


def _build_headings(table: MetricTable) -> tuple[Heading, ...]:
    """Return a heading per column; with several further runs, the run's label is above its columns."""
    header, columns_per_run = table.header, table.columns_per_run
    verdicts = {x for x, item in enumerate(table.printed, start=1) if item.prints == VERDICT}
    numeric = [index > 0 and index not in verdicts for index in range(len(header))]
    if len(header) <= 2 + columns_per_run:
        return tuple(map(Heading, header, [""] * len(header), [0] * len(header), numeric))
    headings = [Heading(text, numeric=flag) for text, flag in zip(header[:2], numeric, strict=False)]
    for index in range(2, len(header)):
        offset = (index - 2) % columns_per_run
        run = header[index - offset]
        shared = 0 if offset else columns_per_run
        headings.append(Heading(header[index] if offset else "value", run, shared, numeric[index]))
    return tuple(headings)


def align_decimal_points(rows: Sequence[Sequence[Cell]]) -> list[tuple[Cell, ...]]:
    """Return the rows with space after each number, so that decimal points are aligned."""
    columns = range(len(rows[0])) if rows else ()
    widest = [max((_measure_fraction(row[index]) for row in rows), default=0.0) for index in columns]
    return [
        tuple(
            replace(cell, room=round(widest[index] - _measure_fraction(cell), 2)) if index and cell.number else cell
            for index, cell in enumerate(row)
        )
        for row in rows
    ]


def _measure_fraction(cell: Cell) -> float:
    """Return the width of a number from its point (or exponent, or mark) on, in widths of a digit."""
    match = re.search(r"[.e>) ]", cell.text) if cell.is_number else None
    return sum(WIDTHS.get(character, 1.0) for character in cell.text[match.start() :]) if match else 0.0


def _list_metric_cells(table: MetricTable, row: int, names: Sequence[str], entry: str) -> Iterator[Cell]:
    """Yield the cells of a row; those with a number, and the label, lead to the entry, if there is one."""
    label = table.rows[row][0]
    keys = (None, *table.sort_keys[row]) if table.sort_keys else (None,) * len(table.header)
    for column, (text, key) in enumerate(zip(table.rows[row], keys, strict=True)):
        value = get_cell_value(table, row, column)
        cell = Cell(text, format_number(value if key is None else key), entry, is_number=bool(format_number(value)))
        if entry and text != label:
            cell = replace(cell, metric=entry if cell.number else "", of=f"{label}; {names[column]}")
        yield cell


def build_plain_grid(table: Table | Appendix, metrics: Mapping[str, str], entries: Mapping[str, object] = {}) -> Grid:
    """Return the grid of the printed rows of any other table.

    If the table names the entries of its cells, those in `entries` link there. Otherwise a number links to a definition
    if its column's heading, or a text in its row, is the label of a metric (`metrics` maps labels to ids).
    """
    if isinstance(table, Table) and table.shortlist:
        table = select_rows(table, table.shortlist)
    numeric = _list_numeric_columns(table)
    links = _CellLinks(table, metrics, entries, numeric)
    rows = [
        tuple(_build_plain_cell(table, links, y, index, numeric[index]) for index in range(len(row)))
        for y, row in enumerate(table.rows)
    ]
    for mark in table.marks if isinstance(table, Table) else ():
        row = rows[mark.row]
        marked = replace(row[mark.column], marks=(*row[mark.column].marks, mark.kind))
        rows[mark.row] = (*row[: mark.column], marked, *row[mark.column + 1 :])
    columns = [
        Heading(text, numeric=numeric[column_index] and column_index > 0)
        for column_index, text in enumerate(table.header)
    ]
    headings = table.of_headings if isinstance(table, Table) and table.of_headings in entries else ""
    names = (isinstance(table, Table) and not table.of_columns and table.of_rows) or [row[0] for row in table.rows]
    return Grid(table.title, tuple(columns), tuple(align_decimal_points(rows)), headings=headings, names=tuple(names))


def build_percentile_grid(table: Table, entries: Mapping[str, object]) -> Grid:
    """Return the grid of the further columns of a table of metrics: each statistic is above its columns."""
    grid = build_plain_grid(table, {}, entries)
    names = ["", *(name for _, name in sorted({(lead.column, lead.of[0].statistic) for lead in table.leads}))]
    columns = [
        replace(
            heading,
            text=heading.text.removesuffix(f" {name}"),
            above=name,
            shared=names.count(name) if name != names[index - 1] else 0,
            run=_find_run(grid.columns, name, index),
        )
        for index, (heading, name) in enumerate(zip(grid.columns, names, strict=True))
    ]
    return replace(grid, columns=tuple(columns))


def _find_run(columns: Sequence[Heading], statistic: str, index: int) -> str:
    """Return the label of the run of a column; a difference belongs to the run before it."""
    if not index:
        return ""
    texts = [columns[index].text, columns[index - 1].text]
    return next(text.removesuffix(f" {statistic}") for text in texts if text.endswith(f" {statistic}"))


def pack_table(table: Table) -> dict[str, object]:
    """Return all rows of a table as data from which the script of a page builds it when the reader unfolds it."""
    columns = [list(column) for column in zip(*table.rows, strict=True)]
    return {
        "title": table.title,
        "header": table.header,
        "numeric": _list_numeric_columns(table),
        "columns": [pack_column(column) for column in columns],
    }


@dataclass(frozen=True, slots=True)
class _CellLinks:
    """The links of the cells of a table."""

    table: Table | Appendix
    metrics: Mapping[str, str]
    entries: Mapping[str, object]
    numeric: Sequence[bool]

    def find_entry(self, y: int, index: int) -> str:
        """Return the entry that a cell links to; empty if there is none."""
        row = self.table.rows[y]
        if self.table.of_columns or (isinstance(self.table, Table) and self.table.of_rows):
            name = self._get_entry(self.table, y, index) if _is_value(row[index]) or self._is_label(index) else ""
            return name if name in self.entries else ""
        if row[index] in self.metrics:
            return self.metrics[row[index]]
        if not index or not self.numeric[index] or get_cell_value(self.table, y, index) is None:
            return ""
        of_row = next((self.metrics[text] for text in row if text in self.metrics), "")
        return self.metrics.get(self.table.header[index], of_row)

    def _is_label(self, index: int) -> bool:
        """Check that cells of a column name the subject of the row."""
        return isinstance(self.table, Table) and index == 0 and bool(self.table.of_rows) and not self.table.of_columns

    @staticmethod
    def _get_entry(table: Table | Appendix, y: int, index: int) -> str:
        of_column = table.of_columns[index] if table.of_columns else ""
        of_rows = table.of_rows if isinstance(table, Table) else ()
        return of_column or (of_rows[y] if of_rows else "")


def _is_value(text: str) -> bool:
    """Check that a text is a number, or begins like one: a date, a version."""
    return re.match(r"[-−+(]?\.?\d", text) is not None


def _build_plain_cell(table: Table | Appendix, links: _CellLinks, y: int, index: int, numeric: bool) -> Cell:
    row = table.rows[y]
    metric = links.find_entry(y, index)
    number = format_number(get_cell_value(table, y, index)) if numeric else ""
    cell = Cell(row[index], number, metric, is_number=bool(number))
    return replace(cell, of=_describe_value(table, row, index)) if metric and _is_value(row[index]) else cell


def _describe_value(table: Table | Appendix, row: Sequence[str], index: int) -> str:
    """Describe the value of a cell in words."""
    place = ", ".join(part for part in (table.title, row[0] if index else "") if part)
    return f"{place}; {table.header[index]}"
