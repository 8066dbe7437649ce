"""Define the tables of a document: cells, and what each prints beside its text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from assay.number_styles.cell_text import CellValue
from assay.report.cell_links import (
    AVERAGE,
    DIFFERENCE,
    PERCENT,
    SIZE,
    VERDICT,
    CellLink,
    CellSource,
    CellVerdict,
    PrintedColumn,
)
from assay.report.cells import Cell, Values, are_numbers, choose_unit, collect_values
from assay.util.diagnostics import fail


def build_error(message: str, *, expected: str = "", actual: str = "") -> Exception:
    """Return the error of a document that cannot be laid out."""
    return fail("invalid-document", message, expected=expected, found=actual)


def check_unique(kind: str, names: Iterable[object]) -> None:
    """Raise `invalid-document` if a name occurs twice."""
    previous_names: set[object] = set()
    for name in names:
        if name in previous_names:
            raise build_error(f"the {kind} `{name}` occurs twice in the document")
        previous_names.add(name)


def _check_width(title: str, header: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> None:
    for row in rows:
        if len(row) != len(header):
            raise build_error(
                f"a row of the table `{title}` does not fit its header",
                expected=f"{len(header)} cells",
                actual=f"{len(row)}: {row!r}",
            )


def _check_links(title: str, links: tuple[CellLink, ...], rows: int, columns: int) -> None:
    for link in links:
        if not (0 <= link.row < rows and 0 <= link.column < columns):
            raise build_error(f"a cell link of the table `{title}` is outside of the table", actual=repr(link))
    check_unique(f"cell link of the table {title}", ((link.row, link.column) for link in links))


def _check_values(title: str, values: Values, rows: tuple[tuple[str, ...], ...]) -> None:
    if values and list(map(len, values)) != list(map(len, rows)):
        raise build_error(f"the values of the table `{title}` do not fit its cells")


@dataclass(frozen=True, slots=True)
class Mark:
    """A highlight of a cell; `row` and `column` count from 0.

    Its kind is `strong` (a chosen cell), `bad` (a failed check), or `shaded`, `shaded-2` or `shaded-3` (cells that
    belong together; neighbouring groups differ).
    """

    row: int
    column: int
    kind: str


_KINDS = {"Δ": DIFFERENCE, "Δ%": PERCENT}


@dataclass(frozen=True, slots=True)
class Table:
    """A table of finished cells: header and rows have the same length; the first column holds labels.
    If `beside` is set, the table is placed next to the one before it, not below. `of_rows` and `of_columns` are the ids
    of the entries whose values the cells of a row or column are (empty: none); `of_columns` takes precedence.
    `of_headings` is the entry whose values the headings are. `leads` are the links of cells to values. `shortlist` has
    the indexes of the rows that pages print (empty: all); a web page has the others folded. `values` are those of the
    cells, by default those that the texts have, `row_units` or `column_units` the symbols of their units, `verdicts`
    those that cells print.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    marks: tuple[Mark, ...] = ()
    beside: bool = False
    of_rows: tuple[str, ...] = ()
    of_columns: tuple[str, ...] = ()
    of_headings: str = ""
    leads: tuple[CellLink, ...] = ()
    shortlist: tuple[int, ...] = ()
    values: Values = ()
    row_units: tuple[str, ...] = ()
    column_units: tuple[str, ...] = ()
    verdicts: tuple[CellVerdict, ...] = ()

    @property
    def printed_rows(self) -> tuple[tuple[str, ...], ...]:
        """The rows that pages print."""
        return tuple(self.rows[index] for index in self.shortlist) if self.shortlist else self.rows

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", self.values or collect_values(self.rows))
        _check_width(self.title, self.header, self.rows)
        _check_values(self.title, self.values, self.rows)
        _check_links(self.title, self.leads, len(self.rows), len(self.header))
        for units, lines in ((self.row_units, self.rows), (self.column_units, self.header)):
            if units and len(units) != len(lines):
                raise build_error(f"the units of the table `{self.title}` do not fit it", actual=repr(units))
        for verdict in self.verdicts:
            if not (0 <= verdict.row < len(self.rows) and 0 <= verdict.column < len(self.header)):
                raise build_error(f"a verdict of the table `{self.title}` has no cell", actual=repr(verdict))
        if not all(0 <= index < len(self.rows) for index in self.shortlist):
            raise build_error(f"the shortlist of the table `{self.title}` names rows that it lacks")
        for kind, entry_ids, lines in (("row", self.of_rows, self.rows), ("column", self.of_columns, self.header)):
            if entry_ids and len(entry_ids) != len(lines):
                raise build_error(f"the table `{self.title}` must name one entry a {kind}", actual=repr(entry_ids))
        for mark in self.marks:
            if not (0 <= mark.row < len(self.rows) and 0 <= mark.column < len(self.header)):
                raise build_error(f"a mark of the table `{self.title}` is outside of the table", actual=repr(mark))


@dataclass(frozen=True, slots=True)
class MetricTable:
    """A table of metrics. If its part has the same title, it has no heading of its own.
    `header` is an empty text, the base's label, then label, Δ, Δ% of each further run; if differences are judged, its
    interval and verdict follow. `metrics` holds one metric id a row; None marks a row of sample counts, which are those
    of the metric `counted`. `printed` says what each column but the first prints. `notes` are printed below the table.
    `sort_keys` has a number for each cell but that of the label (None: the cell's own), unrounded and in one unit.
    `verdicts` are those that cells print, row by row. `values` are those of the cells, `units` has the symbol of the
    unit of each row. `percentiles` has further columns of the metrics, which are a table of their own.
    """

    id: str
    title: str
    doc: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    metrics: tuple[str | None, ...]
    counted: str = ""
    printed: tuple[PrintedColumn, ...] = ()
    notes: tuple[str, ...] = ()
    sort_keys: tuple[tuple[float | None, ...], ...] = ()
    verdicts: tuple[CellVerdict, ...] = ()
    percentiles: Table | None = None
    values: Values = ()
    units: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", self.values or collect_values(self.rows))
        _check_width(self.title, self.header, self.rows)
        _check_values(self.title, self.values, self.rows)
        if self.units and len(self.units) != len(self.rows):
            raise build_error(f"the table `{self.id}` must have one unit a row", actual=repr(self.units))
        for verdict in self.verdicts:
            is_cell = 0 <= verdict.row < len(self.rows) and 0 < verdict.column <= len(self.printed)
            if not is_cell or self.printed[verdict.column - 1].prints != VERDICT:
                raise build_error(f"a verdict of the table `{self.id}` has no cell", actual=repr(verdict))
        if self.printed and len(self.printed) != len(self.header) - 1:
            raise build_error(f"the table `{self.id}` must say what each column prints", actual=repr(self.printed))
        if len(self.metrics) != len(self.rows):
            raise build_error(
                f"the table `{self.id}` must name one metric a row",
                expected=str(len(self.rows)),
                actual=str(len(self.metrics)),
            )

    @property
    def kinds(self) -> tuple[str, ...]:
        """What each column but the first prints; in a table of a publication, its heading says so."""
        if self.printed:
            return tuple(item.prints for item in self.printed)
        return tuple(_KINDS.get(title, AVERAGE) for title in self.header[1:])

    def list_row_cells(self, row: int) -> list[Cell]:
        """Return the cells of a row after its label; a sample count belongs to the metric that was counted."""
        verdicts = {item.column: item for item in self.verdicts if item.row == row}
        metric, unit = self.metrics[row], self.units[row] if self.units else ""
        cells = []
        for column, kind in enumerate(self.kinds, start=1):
            prints = kind if metric else SIZE
            runs = self.printed[column - 1].runs if self.printed else ()
            sources = tuple(CellSource(metric or self.counted, run) for run in runs)
            text, value = self.rows[row][column], get_cell_value(self, row, column)
            cells.append(Cell(text, value, choose_unit(prints, sources, unit), verdicts.get(column), prints, sources))
        return cells

    @property
    def columns_per_run(self) -> int:
        """The number of columns of each run after the base."""
        further_runs = sum(column.prints == AVERAGE for column in self.printed) - 1
        return (len(self.header) - 2) // further_runs if further_runs > 0 else 3


@dataclass(frozen=True, slots=True)
class Appendix:
    """A titled part at the end of a report: paragraphs, a table (none if the header is empty), a list of `notes`.

    `of_columns` are the entries whose values the cells are, empty for none; `leads` are the links of cells to values,
    `values` the values of the cells.
    """

    title: str
    text: tuple[str, ...]
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    of_columns: tuple[str, ...] = ()
    leads: tuple[CellLink, ...] = ()
    notes: tuple[str, ...] = ()
    values: Values = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", self.values or collect_values(self.rows))
        _check_width(self.title, self.header, self.rows)
        _check_values(self.title, self.values, self.rows)
        _check_links(self.title, self.leads, len(self.rows), len(self.header))
        if self.of_columns and len(self.of_columns) != len(self.header):
            raise build_error(f"the table `{self.title}` must name one entry a column", actual=repr(self.of_columns))


def get_cell_value(table: MetricTable | Table | Appendix, row: int, column: int) -> CellValue:
    """Return the value of a cell; None if it prints no number."""
    return table.values[row][column] if table.values else None


def list_linked_cells(table: Table | Appendix) -> Iterator[tuple[CellLink, Cell]]:
    """Yield the cells of a table that have a source, in the order of their links."""
    row_units, column_units = (table.row_units, table.column_units) if isinstance(table, Table) else ((), ())
    verdicts = {(item.row, item.column): item for item in table.verdicts} if isinstance(table, Table) else {}
    for link in table.leads:
        unit = column_units[link.column] if column_units else ""
        unit = choose_unit(link.prints, link.of, unit or (row_units[link.row] if row_units else ""))
        text, value = table.rows[link.row][link.column], get_cell_value(table, link.row, link.column)
        yield link, Cell(text, value, unit, verdicts.get((link.row, link.column)), link.prints, link.of)


def list_number_columns(table: Table | Appendix, *, with_intervals: bool = False) -> list[int]:
    """Return the columns whose cells print numbers, or nothing."""
    columns = [[row[x] for row in table.rows] for x in range(len(table.header))] if table.values else []
    values = zip(*table.values, strict=True)
    pairs = zip(columns, values, strict=False)
    return [x for x, (texts, items) in enumerate(pairs) if are_numbers(items, texts, with_intervals=with_intervals)]


def select_rows(table: Table, indexes: Sequence[int]) -> Table:
    """Return a table of some rows, without links, highlights and shortlist."""
    rows = tuple(table.rows[index] for index in indexes)
    values = tuple(table.values[index] for index in indexes) if table.values else ()
    return Table(
        table.title, table.header, rows,
        of_rows=tuple(table.of_rows[index] for index in indexes) if table.of_rows else (),
        of_columns=table.of_columns, of_headings=table.of_headings, values=values,
    )  # fmt: skip
