"""Tables of an article that show rows of grains: listings, and pivots with their diagonals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from assay.lang.model.article import Article, Listing, Part, Pivot
from assay.lang.model.package import Column, Grain, Metric
from assay.lang.normal_form import CheckedPackage
from assay.plan.planner import request_rows
from assay.report.blocks import rows as asked
from assay.report.blocks.choices import Chosen
from assay.report.blocks.rows import Row, ordered
from assay.report.cell_links import COLUMN, ROW, SHARE, SHORT, CellLink, on_row
from assay.report.document import Mark, Table
from assay.report.glossary import of_column, of_product, of_share
from assay.report.run_results import RunFigures, named_once, value_text
from assay.styles.exact_decimal import decimal_value, on_its_side, whole_text
from assay.styles.registry import Style
from assay.styles.row import NO_VALUE

FALLS_SHORT = " *"
STRONG, SHADED = "strong", "shaded"


@dataclass(frozen=True, slots=True)
class ShownRun:
    """A run as an article shows it: its results, its label, and that in titles (empty where there is one run only)."""

    run: RunFigures
    label: str
    titled: str


@dataclass(frozen=True, slots=True)
class RenderContext:
    """What all tables and figures are made with: the specs, the number style, the rows of choices, the instants (name,
    ns) at which runs are cut, by run."""

    checked: CheckedPackage
    article: Article
    look: Style
    chosen: Chosen
    instants: Mapping[str, Sequence[tuple[str, int]]] = field(default_factory=dict)

    def row(self, choice: str, run: RunFigures) -> Row | None:
        """The row of a choice in a run."""
        return self.chosen.get((choice, run.id))

    def times(self, choice: str, run: RunFigures) -> tuple[int, int] | None:
        """The first and last instant (ns) of the time of a choice's row in a run, where there is one."""
        row, chosen = self.row(choice, run), self.article.choice(choice)
        return (int(str(row[chosen.begin])), int(str(row[chosen.end]))) if row else None

    def text(self, metric: Metric, row: Row | None) -> str:
        """What a metric measures on a row, as tables print it."""
        return asked.text(self.checked, self.look, metric, row[metric.id] if row else None)

    def number(self, metric: Metric, row: Row | None) -> float | None:
        """What a metric measures on a row, in its unit."""
        return asked.number(self.checked, metric, row[metric.id]) if row else None

    def exact(self, metric: Metric, row: Row | None) -> Fraction | None:
        """The same exactly; None, too, where it is not finite."""
        return asked.exact(self.checked, metric, row[metric.id]) if row else None


def tables(setting: RenderContext, part: Part, runs: Sequence[ShownRun]) -> tuple[Table, ...]:
    """The pivots and listings of a part."""
    found = [table for item in part.pivots for table in _pivots(setting, item, runs)]
    found += [_listing(setting, item, shown) for item in part.listings for shown in runs]
    return tuple(found)


def titled(title: str, run: str) -> str:
    """A title with the label of the run that it is about."""
    return f"{title}: {run}" if run else title


def column_named(grain: Grain, name: str) -> Column:
    """The column of a grain."""
    return next(column for column in grain.columns if column.name == name)


def heading(column: Column) -> str:
    """What stands over a column: its name and unit; instants are printed without one."""
    symbol = "" if column.type == "instant" else column.unit.symbol
    return named_once(column.name.replace("_", " ").capitalize(), symbol)


def cell(column: Column, value: object) -> str:
    """A value of a column as tables print it."""
    return value_text(column.type, value)


def metric_heading(metric: Metric) -> str:
    """What stands over the values of a metric: its name and unit."""
    return named_once(metric.name, metric.unit.symbol)


def _listing(setting: RenderContext, listing: Listing, shown: ShownRun) -> Table:
    metrics = tuple(setting.checked.metric(name) for name in listing.metrics)
    grain = next(item for item in setting.checked.package.grains if item.name == listing.grain)
    found = asked.rows(shown.run, request_rows(setting.checked.package, grain, listing.keys, metrics))
    columns = [column_named(grain, name) for name in listing.keys]
    header = [*map(heading, columns), *map(metric_heading, metrics)]
    found = sorted(found, key=lambda row: tuple(ordered(row[name]) for name in listing.keys))
    rows = [
        (*(cell(column, row[column.name]) for column in columns), *(setting.text(item, row) for item in metrics))
        for row in found
    ]
    means = (*(of_column(grain.name, name) for name in listing.keys), *listing.metrics)
    leads = tuple(
        CellLink(y, x, ROW, (on_row(name, shown.run.id, row, listing.keys),))
        for y, row in enumerate(found)
        for x, name in enumerate(listing.metrics, start=len(listing.keys))
    )
    leads += tuple(
        CellLink(y, x, COLUMN, (on_row(name, shown.run.id, row, listing.keys),))
        for y, row in enumerate(found)
        for x, name in enumerate(means[: len(listing.keys)])
    )
    return Table(titled(listing.title, shown.titled), tuple(header), tuple(rows), of_columns=means, leads=leads)


# Pivots


@dataclass(frozen=True, slots=True)
class Cells:
    """The rows of a pivot by their places, and the values down and across in order."""

    at: Mapping[tuple[object, object], Row]
    down: Sequence[object]
    across: Sequence[object]


def _pivots(setting: RenderContext, pivot: Pivot, runs: Sequence[ShownRun]) -> Iterator[Table]:
    """The tables of all runs side by side, then those of their diagonals."""
    made = [_pivot(setting, pivot, shown) for shown in runs]
    yield from (replace(table, beside=place > 0) for place, (table, _) in enumerate(made))
    yield from (diagonals for _, diagonals in made if diagonals)


def _pivot(setting: RenderContext, pivot: Pivot, shown: ShownRun) -> tuple[Table, Table | None]:
    """The table, and that of its diagonals."""
    item = asked.of_pivot(setting.checked, pivot)
    at: dict[tuple[object, object], Row] = {}
    for row in sorted(asked.rows(shown.run, item), key=lambda row: ordered(row[pivot.first])):
        at.setdefault((row[pivot.down], row[pivot.across]), row)
    cells = Cells(at, sorted({d for d, _ in at}, key=ordered), sorted({a for _, a in at}, key=ordered))
    chosen = setting.row(pivot.choice, shown.run)
    place = (chosen[pivot.down], chosen[pivot.across]) if chosen else None
    down, across = (column_named(item.grain, name) for name in (pivot.down, pivot.across))
    rows = [
        (cell(down, left), *(_cell(setting, pivot, at.get((left, top))) for top in cells.across)) for left in cells.down
    ]
    marks = [
        Mark(y, x, kind)
        for y, left in enumerate(cells.down)
        for x, top in enumerate(cells.across, start=1)
        for kind in _kinds(pivot, cells, (left, top), place)
    ]
    header = (f"{heading(down)} \\ {heading(across)}", *(cell(across, top) for top in cells.across))
    means = (of_column(pivot.grain, pivot.down), *(pivot.metric for _ in cells.across))
    title, heads = titled(pivot.title, shown.titled), of_column(pivot.grain, pivot.across)
    leads = tuple(
        CellLink(y, x, ROW, (on_row(pivot.metric, shown.run.id, at[left, top], keys_of(pivot)),))
        for y, left in enumerate(cells.down)
        for x, top in enumerate(cells.across, start=1)
        if (left, top) in at
    )
    table = Table(title, header, tuple(rows), tuple(marks), of_columns=means, of_headings=heads, leads=leads)
    return table, _diagonals(setting, pivot, shown, cells, place, (across, down)) if pivot.diagonals else None


def keys_of(pivot: Pivot) -> tuple[str, ...]:
    """The columns that tell which row a cell of a pivot is."""
    return (pivot.down, pivot.across, pivot.first)


def _kinds(pivot: Pivot, cells: Cells, at: tuple[object, object], chosen: object) -> Iterator[str]:
    """What sets a cell apart: every other diagonal is shaded, the chosen cell strong."""
    if pivot.diagonals and _products(cells).index(_product(at)) % 2:
        yield SHADED
    if at == chosen:
        yield STRONG


def _product(at: tuple[object, object]) -> Fraction:
    """What a place amounts to, exactly: 0.1 × 3 and 0.3 × 1 are one diagonal."""
    down, across = at
    assert isinstance(down, (int, float))
    assert isinstance(across, (int, float))
    return decimal_value(down) * decimal_value(across)


def _products(cells: Cells) -> list[Fraction]:
    """What the diagonals amount to, those of all places, in order."""
    return sorted({_product((down, across)) for down in cells.down for across in cells.across})


def _diagonals(
    setting: RenderContext, pivot: Pivot, shown: ShownRun, cells: Cells, chosen: object, columns: tuple[Column, Column]
) -> Table:
    """A row for each cell, those of a diagonal together: what it amounts to, place, value, what is due."""
    across, down = columns
    metric = setting.checked.metric(pivot.metric)
    due = setting.checked.metric(pivot.due) if pivot.due else None
    places = sorted(cells.at, key=lambda at: (_product(at), ordered(at[1])))
    rows, marks, leads = [], [], list[CellLink]()
    for y, at in enumerate(places):
        row = cells.at[at]
        given = (whole_text(_product(at)), str(at[1]), str(at[0]), setting.text(metric, row))
        rows.append((*given, *(_due(setting, pivot, metric, due, row) if due else ())))
        kinds = tuple(_kinds(pivot, cells, at, chosen))
        marks += [Mark(y, x, kind) for kind in kinds for x in range(len(rows[-1]))]
        of = [on_row(item.id, shown.run.id, row, keys_of(pivot)) for item in (metric, *((due,) if due else ()))]
        leads += [CellLink(y, x, ROW, (item,)) for x, item in enumerate(of, start=len(given) - 1)]
        leads += [
            CellLink(y, len(given) + x, prints, tuple(of)) for x, prints in enumerate((SHARE, SHORT), start=1) if due
        ]
    header = [
        f"{across.name.replace('_', ' ').capitalize()} × {down.name.replace('_', ' ')}",
        heading(across), heading(down), metric_heading(metric),
    ]  # fmt: skip
    header += [metric_heading(due), "Of what is due, %", f"Short by more than {pivot.tolerance} %"] if due else []
    places_ = (of_column(pivot.grain, pivot.across), of_column(pivot.grain, pivot.down))
    means: tuple[str, ...] = (of_product(pivot.grain, pivot.down, pivot.across), *places_, metric.id)
    means += (due.id, of_share(metric.id, due.id), "") if due else ()
    title = titled("Diagonals", shown.titled)
    return Table(title, tuple(header), tuple(rows), tuple(marks), of_columns=means, leads=tuple(leads))


def _due(setting: RenderContext, pivot: Pivot, metric: Metric, due: Metric, row: Row) -> tuple[str, str, str]:
    """What is due, the share of it that there is, whether that falls short."""
    short = asked.short(setting.checked, metric, due, row, pivot.tolerance)
    return setting.text(due, row), _share(setting, pivot, metric, due, row, short), "yes" if short else "no"


def _share(setting: RenderContext, pivot: Pivot, metric: Metric, due: Metric, row: Row, short: bool) -> str:
    """The share in percent, with as many decimals as it takes to be seen on its side of what counts as short."""
    found, wanted = setting.exact(metric, row), setting.exact(due, row)
    if found is None or not wanted:
        return NO_VALUE
    return on_its_side(100 * found / wanted, 1, lambda shown: (shown < 100 - pivot.tolerance) == short)


def _cell(setting: RenderContext, pivot: Pivot, row: Row | None) -> str:
    """A cell; marked when it falls short of what is due."""
    if row is None:
        return NO_VALUE
    metric = setting.checked.metric(pivot.metric)
    text = setting.text(metric, row)
    due = setting.checked.metric(pivot.due) if pivot.due else None
    return text + FALLS_SHORT if due and asked.short(setting.checked, metric, due, row, pivot.tolerance) else text
