"""Read the changes that the tables of documents print: what sentences say is compared with these cells."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

from assay.lang.checked_package import CheckedPackage
from assay.lang.model.observation import OF_ROWS, ObservationRules
from assay.lang.model.parts import get_group_name
from assay.lang.model.vocabulary import Margin, Unit
from assay.lang.units import get_package_library
from assay.number_styles.unit_prefix import list_prefixed_units
from assay.report.cell_links import (
    AVERAGE,
    CHANGE,
    DIFFERENCE,
    INTERVAL,
    PERCENT,
    ROW,
    VERDICT,
    CellLink,
    CellVerdict,
)
from assay.report.cells import Cell
from assay.report.document import Document, name_table
from assay.report.judged_cells import CERTAIN
from assay.report.prose import BASE, FIRST, LAST
from assay.report.tables import MetricTable, Table, list_linked_cells


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """What is compared: the label of a run and that of its base, in a report (`case`; empty if there is only one)."""

    case: str
    base: str
    run: str


@dataclass(frozen=True, slots=True)
class PrintedCell:
    """A cell of a table with its name and the name of its column; without sources in a publication."""

    name: str
    column: str
    cell: Cell

    @property
    def text(self) -> str:
        """The printed text."""
        return self.cell.text

    @property
    def number(self) -> Decimal | None:
        """The printed number; None for a cell without one."""
        number = self.cell.number
        return None if number is None else Decimal(str(number))


@dataclass(frozen=True, slots=True)
class PrintedChange:
    """The printed change of a metric: its cells by what they print, its name and the symbol of its unit in the table.

    The cell of the base is that of `base`; `average` is that of the run. The values of a metric on the `rows` of a
    table are no change, but may rise or fall from the first to the last. `row_changes` are changes on rows, in percent.
    """

    metric: str
    name: str
    symbol: str
    place: Place
    cells: Mapping[str, PrintedCell]
    rows: tuple[PrintedCell, ...] = ()
    row_changes: tuple[PrintedCell, ...] = ()

    @property
    def percent(self) -> Decimal:
        """The printed change in percent of the base; 0 if none is printed."""
        cell = self.cells.get(PERCENT)
        return (cell.number if cell else None) or Decimal(0)

    @property
    def difference(self) -> Decimal:
        """The printed difference, in the printed unit; 0 if none is printed."""
        cell = self.cells.get(DIFFERENCE)
        return (cell.number if cell else None) or Decimal(0)

    @property
    def direction(self) -> int:
        """1 for a rise, -1 for a fall, 0 for no printed change; without averages, that of the rows."""
        if AVERAGE not in self.cells:
            return self.row_direction
        return _get_sign(self.difference or self.percent)

    @property
    def row_direction(self) -> int:
        """1 for a rise from the first row to the last, -1 for a fall, else 0."""
        first, last = (self.rows[index].number or Decimal(0) for index in (0, -1)) if self.rows else (Decimal(0),) * 2
        return _get_sign(last - first)

    @property
    def is_monotone(self) -> bool:
        """Whether the values on rows rise or fall, and never go the other way from row to row."""
        numbers = [item.number or Decimal(0) for item in self.rows]
        steps = [(b - a) * self.row_direction for a, b in pairwise(numbers)]
        return self.row_direction != 0 and all(step >= 0 for step in steps)

    @property
    def verdict(self) -> str:
        """The printed verdict as a word; empty if there is none."""
        return self._verdict.word if self._verdict else ""

    @property
    def _verdict(self) -> CellVerdict | None:
        printed = self.cells.get(VERDICT)
        return printed.cell.verdict if printed else None

    @property
    def is_certain(self) -> bool:
        """Whether the report judges that the change is larger than its margin."""
        return self.verdict in CERTAIN

    @property
    def is_by_itself(self) -> bool:
        """Whether the report has a verdict that chance may explain among so many metrics."""
        return self._verdict is not None and self._verdict.is_by_itself

    @property
    def may_be_stated(self) -> bool:
        """Whether a sentence may say that the metric changed: by its verdict, or by its size if nothing is judged."""
        return self.is_certain or not self.verdict


def _get_sign(number: Decimal) -> int:
    return (number > 0) - (number < 0)


def select_rows(change: PrintedChange, below: str, above: str) -> tuple[PrintedCell, ...]:
    """Return the rows whose values are below and above these bounds, decimal texts (empty: no bound)."""
    return tuple(
        cell
        for cell in change.rows
        if cell.number is not None
        and (not below or cell.number < Decimal(below))
        and (not above or cell.number > Decimal(above))
    )


def is_on_most_rows(change: PrintedChange, below: str, above: str) -> bool:
    """Return whether values are below and above these bounds on more than half of the rows."""
    return 2 * len(select_rows(change, below, above)) > len(change.rows)


Changes = Mapping[Place, Mapping[str, PrintedChange]]
"""The printed changes by metric, of each place; in the order of documents and of their columns."""


def list_changes(
    documents: Mapping[str, Document],
    rules: ObservationRules | None,
    groups: Collection[str] = (),
    quoted: Collection[str] = (),
) -> Changes:
    """Return the changes that the tables of documents print, and values on rows as far as the rules are on them.

    The documents are named by their case. In reports on `groups` of runs, each group is a case. Metrics whose cells
    texts quote, `quoted`, have values on rows, too.
    """
    rule_groups = rules.groups if rules else ()
    rows = {
        name for group in rule_groups for item in group.observations if item.whole in OF_ROWS for name in item.metrics
    }
    rows |= {*quoted}
    changes: dict[Place, dict[str, PrintedChange]] = {}
    for case, document in documents.items():
        for change in _list_document_changes(document, case, groups):
            changes.setdefault(change.place, {}).setdefault(change.metric, change)
        for change in _list_row_values(document, case, rows, groups):
            first = changes.setdefault(change.place, {}).setdefault(change.metric, change)
            changes[change.place][change.metric] = replace(
                first,
                cells={**change.cells, **first.cells},
                rows=first.rows or change.rows,
                row_changes=first.row_changes or change.row_changes,
            )
    cases = list(dict.fromkeys(place.case for place in changes))
    # The first run of a report or group, which only rows are of, comes before those that are compared with it.
    places = sorted(changes, key=lambda place: (cases.index(place.case), bool(place.base)))
    return {place: changes[place] for place in places}


def _name_case(case: str, run: str, groups: Collection[str]) -> str:
    """Return the case of a run or phase by its id: that of its document, its group, or both."""
    group = get_group_name(run) if groups else ""
    return " ".join(filter(None, (case, group)))


def _list_row_values(
    document: Document, case: str, metrics: Collection[str], groups: Collection[str]
) -> Iterator[PrintedChange]:
    """Yield what each table prints of metrics on its rows, one item for each metric, run and column.

    These are values, of `metrics` only, and changes from rows of the baseline.
    """
    places = _locate_runs(document, case, groups)
    for table_name, table in _list_tables(document):
        columns: dict[tuple[str, str, int, str], list[PrintedCell]] = {}
        for link, linked_cell in sorted(list_linked_cells(table), key=lambda item: (item[0].row, item[0].column)):
            if not link.of or not (link.prints == CHANGE or (link.prints == ROW and link.of[0].entry in metrics)):
                continue
            title = table.header[link.column]
            cell = PrintedCell(f"{table_name}/{table.rows[link.row][0]}/{title}", title, linked_cell)
            if cell.number is not None or link.prints == CHANGE:
                columns.setdefault((link.of[0].entry, link.of[-1].run, link.column, link.prints), []).append(cell)
        for (metric, run, _, prints), cells in columns.items():
            name, symbol = _name_metric(document, metric)
            change = PrintedChange(metric, name, symbol, places[run], {})
            if prints == CHANGE:
                yield replace(change, row_changes=tuple(cells))
            else:
                yield replace(change, cells={FIRST: cells[0], LAST: cells[-1]}, rows=tuple(cells))


def _locate_runs(document: Document, case: str, groups: Collection[str]) -> dict[str, Place]:
    """Return the place of each run by its id; the first run, or that of a group, is the base of the others."""
    labels = {link.of[0].run: document.manifest.header[link.column] for link in document.manifest.leads if link.of}
    links = (link for _, table in _list_tables(document) for link in table.leads)
    runs = (source.run for link in links if link.prints in (ROW, CHANGE) for source in link.of)
    labels = {**{run: run.removeprefix(f"{get_group_name(run)}:") for run in runs}, **labels}
    places: dict[str, Place] = {}
    bases: dict[str, str] = {}
    for run, text in labels.items():
        label = text.removeprefix(f"{get_group_name(run)}: ")
        name = _name_case(case, run, groups)
        places[run] = Place(name, bases.get(name, ""), label)
        bases.setdefault(name, label)
    return places


def _name_metric(document: Document, metric: str) -> tuple[str, str]:
    """Return the name of a metric, and the symbol of its unit."""
    return next(((entry.name, entry.unit) for entry in document.entries if entry.id == metric), (metric, ""))


def _list_document_changes(document: Document, case: str, groups: Collection[str]) -> Iterator[PrintedChange]:
    for title, metric_table in document.named_metric_tables.items():
        yield from _list_metric_changes(title, metric_table, case, groups)
    for table_name, table in _list_tables(document):
        yield from _list_table_changes(table_name, table, case, groups)


def _list_tables(document: Document) -> list[tuple[str, Table]]:
    """Return the tables of parts whose cells have links, each after its name."""
    return [
        (name_table(part, table), table) for part in document.parts for table in part.tables if isinstance(table, Table)
    ]


def _list_table_changes(table_name: str, table: Table, case: str, groups: Collection[str]) -> Iterator[PrintedChange]:
    """Yield the changes in a table of a report, whose cells have links."""
    links_by_row: dict[int, list[CellLink]] = {}
    cells_by_place: dict[tuple[int, int], Cell] = {}
    for link, linked_cell in sorted(list_linked_cells(table), key=lambda item: item[0].column):
        links_by_row.setdefault(link.row, []).append(link)
        cells_by_place[link.row, link.column] = linked_cell
    for number, links in links_by_row.items():
        label = table.rows[number][0]
        columns: list[list[CellLink]] = []
        for link in links:
            if link.prints == AVERAGE:
                columns.append([])
            if columns and link.prints in (AVERAGE, DIFFERENCE, PERCENT, INTERVAL, VERDICT):
                columns[-1].append(link)
        for group in columns[1:]:
            base, run = columns[0][0], group[0]
            metric, group_case = run.of[0].entry, _name_case(case, run.of[0].run, groups)
            place = Place(group_case, table.header[base.column], table.header[run.column])
            symbol = cells_by_place[number, base.column].unit
            name = label.removesuffix(f", {symbol}") if symbol else label

            def create_cell(link: CellLink, run: CellLink = run, label: str = label) -> PrintedCell:
                title = table.header[link.column]
                column = title if link.prints == AVERAGE else f"{table.header[run.column]} {title}"
                return PrintedCell(f"{table_name}/{label}/{column}", column, cells_by_place[link.row, link.column])

            cells = {link.prints: create_cell(link) for link in group}
            yield PrintedChange(metric, name, symbol, place, {**cells, BASE: create_cell(base)})


def _list_metric_changes(title: str, table: MetricTable, case: str, groups: Collection[str]) -> list[PrintedChange]:
    """Return the changes in a table of metrics with the name `title`, row by row."""
    changes = []
    base, *others = _group_columns(table) or [[]]
    for number, (row, metric) in enumerate(zip(table.rows, table.metrics, strict=True)):
        if metric is None or not others:
            continue
        symbol = table.units[number] if table.units else ""
        name = row[0].removesuffix(f", {symbol}") if symbol else row[0]
        printed = [
            PrintedCell(f"{title}/{row[0]}/{column}", column, cell)
            for column, cell in zip(_name_columns(table), table.list_row_cells(number), strict=True)
        ]
        for columns in others:
            first = columns[0][0]
            run = table.printed[first - 1].runs[-1] if table.printed else ""
            place = Place(_name_case(case, run, groups), table.header[1], table.header[first])
            cells = {kind: printed[column - 1] for column, kind in columns}
            cells[BASE] = printed[base[0][0] - 1]
            changes.append(PrintedChange(metric, name, symbol, place, cells))
    return changes


def _group_columns(table: MetricTable) -> list[list[tuple[int, str]]]:
    """Return the columns of the base and of each further run, with what they print."""
    groups: list[list[tuple[int, str]]] = []
    for column, kind in enumerate(table.kinds, start=1):
        if kind == AVERAGE:
            groups.append([])
        if groups:
            groups[-1].append((column, kind))
    return groups


def _name_columns(table: MetricTable) -> Iterator[str]:
    """Yield the name of each column but the first; a difference belongs to the run before it."""
    run = ""
    for kind, title in zip(table.kinds, table.header[1:], strict=True):
        run = title if kind == AVERAGE else run
        yield title if kind == AVERAGE else f"{run} {title}"


def is_large(checked: CheckedPackage, change: PrintedChange, least: Margin) -> bool:
    """Return whether a printed change is at least as large as a margin demands, and certain if changes are judged."""
    if change.direction == 0 or not change.may_be_stated:
        return False
    if least.percent and abs(change.percent) < Decimal(least.percent):
        return False
    return not least.amount or _convert_difference(checked, change, least.unit) >= Fraction(least.amount)


def _convert_difference(checked: CheckedPackage, change: PrintedChange, unit: Unit) -> Fraction:
    """Return the size of a printed difference in another unit than the printed one."""
    metric = checked.get_metric(change.metric)
    prefixes = {symbol: factor for factor, symbol in list_prefixed_units(metric.unit.symbol)}
    factor = get_package_library(checked.package).compute_factor(metric.unit.name, unit.name)
    return Fraction(abs(change.difference)) / prefixes.get(change.symbol, Fraction(1)) * factor
