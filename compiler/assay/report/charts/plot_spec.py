"""A plot of the document and a chart template -> a finished Vega-Lite specification, its rows inlined.

In the template a string `"${name}"` stands for a value:

    description  text for screen readers
    rows         [{column: value}]; columns without a value are left out
    alone        those of rows that are points of lines (`line`, `y`) with none beside them: no line shows these
    x_label      what stands along x
    panels       the plot's panels, in order
    cases        the rows of panels, in order
    legend       those of the panels that a legend names: all that fit below the plot, if there are several
    legend_columns  in how many columns
    padding      {left, right, top, bottom}, pixels: the drawing's size follows from it

Its `usermeta.assay.margins` are the margins around all panels.  A template with panels is faceted: `spec.width` and
`spec.height` are those of one panel, `spacing` the pixels between rows of them (`row` and `column`, where panels stand
in columns, too).  A faceted view has no size of its
own unless texts are measured, so that of its panels is part of the padding; every position is given, and no drawing
depends on the fonts that happen to be installed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assay.report.charts.vega_spec import filled, without_empty_layers
from assay.report.document import Plot

Json = Any

#: pixels of a legend below a plot, of its symbols with the space around, of a letter; rows that there is room for
LEGEND_WIDTH, LEGEND_SYMBOL, LEGEND_LETTER, LEGEND_ROWS = 300, 32, 4.6, 4

#: how many lines the templates of timelines give a colour of their own
COLOURS = 8


def plot_spec(plot: Plot, template: Mapping[str, Json]) -> dict[str, Json]:
    """The specification that draws a plot; raises `unknown-placeholder` as charts do."""
    values = {
        "description": plot.description,
        "rows": [_row(plot.columns, row) for row in plot.rows],
        "alone": [_row(plot.columns, row) for row in _alone(plot)],
        "x_label": plot.x_label,
        "panels": list(plot.panels),
        "cases": list(plot.cases),
        "legend": list(_named(plot.panels)),
        "legend_columns": _columns(plot.panels),
        "padding": _padding(template, plot),
    }
    return without_empty_layers(filled(template, values))


def is_unnamed(names: tuple[str, ...]) -> bool:
    """Whether lines of these names go without a legend, because they are too many for one."""
    return len(names) > 1 and not _named(names)


def _columns(names: tuple[str, ...]) -> int:
    """How many columns of a legend fit below a plot, by counting characters."""
    longest = max(map(len, names), default=1)
    return max(1, int(LEGEND_WIDTH // (LEGEND_SYMBOL + LEGEND_LETTER * longest)))


def _named(names: tuple[str, ...]) -> tuple[str, ...]:
    """What a legend names: more than fit, and a single one, are not named."""
    if len(names) < 2:
        return ()
    return names if len(names) <= LEGEND_ROWS * _columns(names) else ()


def _row(columns: tuple[str, ...], row: tuple[Json, ...]) -> dict[str, Json]:
    return {column: value for column, value in zip(columns, row, strict=True) if value is not None}


def _alone(plot: Plot) -> Iterator[tuple[Json, ...]]:
    """The points of lines that have none before and none behind them, be it that the line breaks there."""
    if not {"line", "y"} <= set(plot.columns):
        return
    line, y = plot.columns.index("line"), plot.columns.index("y")
    held = [row[line] if row[line] is not None and row[y] is not None else None for row in plot.rows]
    for place, (before, name, behind) in enumerate(zip([None, *held], held, [*held[1:], None], strict=False)):
        if name is not None and name not in (before, behind):
            yield plot.rows[place]


def _padding(template: Mapping[str, Json], plot: Plot) -> dict[str, float]:
    """The margins; with panels one below the other, or in rows and columns, their size too."""
    margins: dict[str, float] = template["usermeta"]["assay"]["margins"]
    if "facet" not in template:
        return margins
    width, height = template["spec"]["width"], template["spec"]["height"]
    if "column" in template["facet"]:
        rows, columns = len(plot.cases), len(plot.panels)
        gaps = template["spacing"]
    else:
        rows, columns = len(plot.panels), 1
        gaps = {"row": template["spacing"], "column": 0}
    wide = columns * width + max(columns - 1, 0) * gaps["column"]
    tall = rows * height + max(rows - 1, 0) * gaps["row"]
    return {**margins, "right": margins["right"] + wide, "bottom": margins["bottom"] + tall}
