"""A plot of the document and a chart template -> a finished Vega-Lite specification, its rows inlined.

In the template a string `"${name}"` stands for a value:

    description  text for screen readers
    rows         [{column: value}]; columns without a value are left out
    panels       the plot's panels, in order
    padding      {left, right, top, bottom}, pixels: the drawing's size follows from it

Its `usermeta.assay.margins` are the margins around all panels.  A template with panels is faceted: `spec.width` and
`spec.height` are those of one panel, `spacing` the pixels between rows of them.  A faceted view has no size of its
own unless texts are measured, so that of its panels is part of the padding; every position is given, and no drawing
depends on the fonts that happen to be installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.report.chart_spec import filled
from assay.report.document import Plot

Json = Any


def plot_spec(plot: Plot, template: Mapping[str, Json]) -> dict[str, Json]:
    """The specification that draws a plot; raises `unknown-placeholder` as charts do."""
    values = {
        "description": plot.description,
        "rows": [_row(plot.columns, row) for row in plot.rows],
        "panels": list(plot.panels),
        "padding": _padding(template, len(plot.panels)),
    }
    made: dict[str, Json] = filled(template, values)
    return made


def _row(columns: tuple[str, ...], row: tuple[Json, ...]) -> dict[str, Json]:
    return {column: value for column, value in zip(columns, row, strict=True) if value is not None}


def _padding(template: Mapping[str, Json], panels: int) -> dict[str, float]:
    """The margins; with panels one below the other, their size too."""
    margins: dict[str, float] = template["usermeta"]["assay"]["margins"]
    if "facet" not in template:
        return margins
    width, height = template["spec"]["width"], template["spec"]["height"]
    tall = panels * height + max(panels - 1, 0) * template["spacing"]
    return {**margins, "right": margins["right"] + width, "bottom": margins["bottom"] + tall}
