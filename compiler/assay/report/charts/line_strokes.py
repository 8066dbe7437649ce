"""Choose the strokes of the lines of a plot.

A template of lines has in `usermeta.assay.strokes` the strokes of `lines` (`colours` and `dashes` in turn, `width`), of
the `mean`, which no line shares, and of the `rest`: the lines that a plot with many of them does not name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assay.report.document import Document, Plot, Value

#: name of the mean of all lines
MEAN = "mean"
#: with more lines than this, only the mean and the lines with the greatest and the least value are named
MOST_NAMED = 12

Points = Sequence[tuple[float, float | None]]
Stroke = tuple[str, Sequence[float], float]
"""Colour, dash and width."""


def choose_named_lines(lines: Mapping[str, Points]) -> tuple[str, ...]:
    """Return the mean and the lines with the greatest and the least value; none if there are few enough to name all.

    Of several with the greatest or the least value, the first counts.
    """
    values_by_line = {name: [y for _, y in points if y is not None] for name, points in lines.items() if name != MEAN}
    if len(values_by_line) <= MOST_NAMED:
        return ()
    drawn_lines = [name for name, values in values_by_line.items() if values]
    greatest = max(drawn_lines, key=lambda name: max(values_by_line[name]), default="")
    least = min(drawn_lines, key=lambda name: min(values_by_line[name]), default="")
    return tuple(name for name in dict.fromkeys((MEAN, greatest, least)) if name in lines)


def assign_strokes(plot: Plot, strokes: Mapping[str, Any]) -> list[Stroke]:
    """Return the stroke of each panel of a plot of lines, with the strokes of its template."""
    return list(_iter_strokes(plot, strokes))


def _iter_strokes(plot: Plot, strokes: Mapping[str, Any]) -> Iterator[Stroke]:
    lines, count = strokes["lines"], 0
    for name in plot.panels:
        if name == MEAN and "mean" in strokes:
            stroke = strokes["mean"]
            yield stroke["colour"], stroke["dash"], stroke["width"]
        elif plot.named and name not in plot.named:
            stroke = strokes["rest"]
            yield stroke["colour"], stroke["dash"], stroke["width"]
        else:
            yield (
                lines["colours"][count % len(lines["colours"])],
                lines["dashes"][count % len(lines["dashes"])],
                lines["width"],
            )
            count += 1


def list_line_names(document: Document) -> tuple[str, ...]:
    """Return the names of the lines of charts of runs in the order of their colours: runs, versions of several runs."""
    versions = _index_versions(document)
    return tuple(dict.fromkeys(versions.get(run, run) for run in document.manifest.header[1:]))


def _index_versions(document: Document) -> dict[str, str]:
    """Return the labels of versions by those of their runs, for versions of several runs in charts."""
    return {series.run: series.version for chart in document.distributions for series in chart.series if series.version}


def order_rows(plot: Plot) -> list[tuple[Value, ...]]:
    """Return the rows of a plot of lines in the order of drawing: named lines over the rest, the mean over all."""
    line = plot.columns.index("line")
    return sorted(plot.rows, key=lambda row: (row[line] == MEAN, not plot.named or row[line] in plot.named))
