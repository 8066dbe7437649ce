"""Tables of series: their label filters, and the mean over time of the mean of all lines."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from assay.lang.labels import describe_labels
from assay.lang.model.article import Averages
from assay.lang.model.package import Series
from assay.report.blocks import rows as asked
from assay.report.blocks.rows import Row
from assay.report.blocks.tables import RenderContext, ShownRun, titled
from assay.report.cell_links import LINES, MEAN, PERCENT, WORDS, CellLink, CellSource
from assay.report.document import Table
from assay.report.missing_data import is_drawn
from assay.report.run_results import row_label
from assay.styles.exact_decimal import decimal_value, percent_change, rounded_fraction
from assay.styles.row import NO_VALUE

DIGITS = 9


def averages(setting: RenderContext, item: Averages, shown: ShownRun) -> Table | None:
    """A row a series: what it is, which labels count, its lines, its average, and the difference to the first's.

    None where the run has no row of the choice.
    """
    found = [next(known for known in setting.checked.package.series if known.name == name) for name in item.series]
    times = setting.times(item.choice, shown.run) if item.choice else None
    if item.choice and times is None:
        return None
    held = [within(asked.rows(shown.run, series), times) for series in found]
    means = [average(rows) for rows in held]
    rows = [
        (
            series.doc,
            describe_labels(setting.checked.package, series),
            str(_lines(series, of_series)),
            NO_VALUE if mean is None else setting.look.table_row([mean], DIGITS).cells[0],
            _percent(means[0], mean) if place else "",
        )
        for place, (series, of_series, mean) in enumerate(zip(found, held, means, strict=True))
    ]
    header = ("Series", "Labels", "Lines", row_label("Average", found[0].unit.symbol), "Δ%")
    of = [CellSource(series.name, shown.run.id, since=times and times[0], until=times and times[1]) for series in found]
    leads = tuple(lead for place in range(len(of)) for lead in link_cells(place, of[0], of[place]))
    return Table(titled(item.title, shown.titled), header, tuple(rows), of_rows=item.series, leads=leads)


def link_cells(row: int, first: CellSource, own: CellSource) -> Iterator[CellLink]:
    yield CellLink(row, 1, WORDS, (own,))
    yield CellLink(row, 2, LINES, (own,))
    yield CellLink(row, 3, MEAN, (own,))
    if row:
        yield CellLink(row, 4, PERCENT, (first, own))


def within(rows: Sequence[Row], times: tuple[int, int] | None) -> Sequence[Row]:
    """The rows from the first to the last instant (ns)."""
    return rows if times is None else [row for row in rows if times[0] <= int(str(row["t_ns"])) <= times[1]]


def average(rows: Sequence[Row]) -> float | None:
    """The mean over all steps of the mean over the lines that have a value then; what is no number is none."""
    at: dict[object, list[float]] = {}
    for row in rows:
        if is_drawn(row):
            at.setdefault(row["t_ns"], []).append(float(str(row["value"])))
    means = [math.fsum(values) / len(values) for values in at.values()]
    return math.fsum(means) / len(means) if means else None


def _lines(series: Series, rows: Sequence[Row]) -> int:
    return len({tuple(row[name] for name in series.by) for row in rows})


def _percent(first: float | None, value: float | None) -> str:
    """The difference to the first, in percent of its amount."""
    if first is None or value is None or not first:
        return NO_VALUE
    return rounded_fraction(percent_change(decimal_value(first), decimal_value(value)), 1)
