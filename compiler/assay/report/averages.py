"""Tables of series: their label filters, and the mean over time of the mean of all lines."""

from __future__ import annotations

import math
from collections.abc import Sequence

from assay.compare.style import Style
from assay.report import article_rows as asked
from assay.report.article_rows import Row
from assay.report.document import Table
from assay.report.figures import RunFigures, row_label
from assay.report.undrawn import is_drawn
from assay.spec.article_model import Averages
from assay.spec.labels import filtered
from assay.spec.model import Series
from assay.spec.normal_form import Checked

DIGITS = 9


def averages(checked: Checked, look: Style, item: Averages, run: RunFigures, label: str) -> Table:
    """A row a series: what it is, which labels count, its lines, its average, and the difference to the first's."""
    found = [next(known for known in checked.package.series if known.name == name) for name in item.series]
    means = [average(asked.rows(run, series)) for series in found]
    rows = [
        (
            series.doc,
            "; else ".join(filtered(sampled) for sampled in series.samples),
            str(_lines(series, asked.rows(run, series))),
            asked.NO_VALUE if mean is None else look.table_row([mean], DIGITS).cells[0],
            _percent(means[0], mean) if place else "",
        )
        for place, (series, mean) in enumerate(zip(found, means, strict=True))
    ]
    header = ("Series", "Labels", "Lines", row_label("Average", found[0].unit.symbol), "Δ%")
    return Table(f"{item.title}: {label}" if label else item.title, header, tuple(rows), of_rows=item.series)


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
    """The difference to the first, in percent of it."""
    return asked.NO_VALUE if first is None or value is None or not first else f"{100 * (value - first) / first:.1f}"
