"""Fill a chart template with the data of a chart or plot: a complete Vega-Lite specification.

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

A template is a Vega-Lite specification in which a string `"${name}"` stands for a value:

    description  text for screen readers
    runs         labels of all runs of the report, the base first: a run has one colour in all charts
    points       [{run, order, x, centile}]
    bands        [{run, x, x2, centile}], least and greatest host
    tails        [{run, x, centile}], where a line leaves a cut axis
    legend       [{run, label, left, right, top}], pixels from the plot's corner
    padding      {left, right, top, bottom}, pixels
    x_title      axis title with its unit; a second line when the axis is cut
    x_scale      {type, domain, nice, zero}
    x_ticks      numbers
    x_format     d3 number format
    clip         whether something lies beyond the axis (a clip halves the lines that run along its edge)

Its `usermeta.assay` says `scale` (`auto`, `linear`, `log`), the `margins` around the plot and the measures of
the legend.  The legend is placed by count of characters and every other position is given: no measured text
width enters the drawing, so it does not depend on the fonts that happen to be installed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from assay.report.charts.axis import Room, Scale, choose, extent, labelled, tick_format
from assay.report.document import Chart, Plot, Series
from assay.styles.exact_decimal import six_digits
from assay.util.diagnostics import did_you_mean, fail
from assay.util.escape import measure_width

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
        "padding": _plot_padding(template, plot),
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


def _plot_padding(template: Mapping[str, Json], plot: Plot) -> dict[str, float]:
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


def chart_spec(chart: Chart, template: Mapping[str, Json], runs: Sequence[str] = ()) -> dict[str, Json]:
    """The specification that draws `chart` of a report over `runs` (labels, the base first).

    Raises `unknown-placeholder` when the template asks for something that charts do not have.
    """
    settings = template["usermeta"]["assay"]
    scale = choose(chart.series, settings["scale"] if chart.scale == "auto" else chart.scale)
    margins = settings["margins"]
    axis = labelled(scale, Room(template["width"], margins["left"], margins["right"]))
    width = template["width"] + margins["left"]
    legend = _legend([item.run for item in chart.series], settings, width)
    values: dict[str, Json] = {
        "description": description(chart),
        "padding": _padding(settings, legend),
        "runs": list(dict.fromkeys([*runs, *(item.run for item in chart.series)])),
        "points": [row for item in chart.series for row in _points(item)],
        "bands": [row for item in chart.series for row in _bands(item)],
        "tails": [row for item in chart.series for row in _tails(item, scale)],
        "legend": legend,
        "x_title": _x_title(chart, scale),
        "x_scale": {"type": scale.kind, "domain": [scale.low, scale.high], "nice": False, "zero": False},
        "x_ticks": list(axis.ticks),
        "x_format": tick_format(axis.ticks),
        "clip": any(_beyond(chart, scale)),
    }
    return without_empty_layers(filled(template, values))


def without_empty_layers(spec: dict[str, Json]) -> dict[str, Json]:
    """The specification without the layers whose named data is empty (each costs drawing time), and without what they
    read; layers of the template's own, without data or with other, stay as they are."""
    empty = {name for name, rows in spec.get("datasets", {}).items() if not rows}
    layers = [layer for layer in spec.get("layer", []) if not _names(layer.get("data")) & empty]
    shown = {**spec, "layer": layers} if "layer" in spec else spec
    if not empty:
        return shown
    read = set(_read({**shown, "datasets": {}}))
    return {**shown, "datasets": {name: rows for name, rows in spec["datasets"].items() if rows or name in read}}


def _names(data: Json) -> set[str]:
    """The name of data that is named."""
    name = data.get("name") if isinstance(data, Mapping) else None
    return {name} if isinstance(name, str) else set()


def _read(node: Json) -> Iterator[str]:
    """The names of all data that a specification reads."""
    if isinstance(node, Mapping):
        yield from _names(node.get("data"))
    for item in node.values() if isinstance(node, Mapping) else node if isinstance(node, list) else ():
        yield from _read(item)


def filled(node: Json, values: Mapping[str, Json]) -> Json:
    """The tree with every `"${name}"` replaced by the value of that name."""
    if isinstance(node, Mapping):
        return {key: filled(item, values) for key, item in node.items()}
    if isinstance(node, list):
        return [filled(item, values) for item in node]
    if isinstance(node, str) and node.startswith("${") and node.endswith("}"):
        return _value(node[2:-1], values)
    return node


def _value(name: str, values: Mapping[str, Json]) -> Json:
    if name not in values:
        raise fail(
            "unknown-placeholder",
            f"a chart template asks for `{name}`, which charts do not have",
            hint=did_you_mean(name, values),
        )
    return values[name]


def _points(series: Series) -> list[dict[str, Json]]:
    return [
        {"run": series.run, "order": order, "x": point[0], "centile": point[1]}
        for order, point in enumerate(series.points)
    ]


def _bands(series: Series) -> list[dict[str, Json]]:
    """The least and greatest host at every centile; nothing when all hosts agree."""
    rows = [
        {"run": series.run, "x": low, "x2": high, "centile": centile}
        for _, centile, low, high in series.points
        if low is not None and high is not None
    ]
    return rows if any(row["x"] != row["x2"] for row in rows) else []


def _tails(series: Series, scale: Scale) -> list[dict[str, Json]]:
    """A mark at each end of the axis beyond which the run has samples."""
    marks = []
    below = [point for point in series.points if point[0] < scale.low]
    above = [index for index, point in enumerate(series.points) if point[0] > scale.high]
    if below:
        marks.append({"run": series.run, "x": scale.low, "centile": below[-1][1]})
    if above:
        marks.append({"run": series.run, "x": scale.high, "centile": series.points[max(above[0] - 1, 0)][1]})
    return marks


def _x_title(chart: Chart, scale: Scale) -> list[str]:
    """The axis title with its unit and, when the axis is cut, how far the values go."""
    label, unit = chart.x_label, chart.unit
    named = not unit or label == unit or label.endswith(f", {unit}")
    title = label if named else f"{label}, {unit}".lstrip(", ")
    low, high = extent(chart.series)
    below, above = _beyond(chart, scale)
    reach = [f"from {_plain(low, scale.low)}"] if below else []
    reach += [f"up to {_plain(high, scale.high)}"] if above else []
    return [title, f"axis cut: values {' '.join(reach)}"] if reach else [title]


def _beyond(chart: Chart, scale: Scale) -> tuple[bool, bool]:
    """Whether something lies below, above the axis."""
    low, high = extent(chart.series)
    return low < scale.low, high > scale.high


def _plain(x: float, end: float) -> str:
    """A number without an exponent, with four digits, or as many as tell that it lies beyond the end of an axis."""
    texts = (format(Decimal(f"{x:.{digits}g}"), "f") for digits in range(4, 18))
    return next(text for text in texts if (float(text) > end) is (x > end) and float(text) != end)


def description(chart: Chart) -> str:
    """The figure in words, for readers who cannot see it: what it shows and each run's median."""
    unit = f" {chart.unit}" if chart.unit else ""
    middle = [(item.run, point[0]) for item in chart.series for point in item.points if point[1] == 0.5]
    medians = [f"{run} {six_digits(median)}{unit}" for run, median in middle]
    text = f"Cumulative distribution of {chart.caption}"
    return f"{text}. Medians: {'; '.join(medians)}." if medians else f"{text}."


def _legend(runs: Sequence[str], settings: Mapping[str, Json], width: float) -> list[dict[str, Json]]:
    """Where each run's stroke and label go: rows above the plot, filled like lines of text.

    The room a label takes is guessed from its characters, never measured; one longer than a row is shortened.
    """
    legend = settings["legend"]
    frame = legend["stroke"] + 3 * legend["gap"]
    labels = [_shortened(run, (width - frame) / legend["character"]) for run in runs]
    places = _flow([frame + legend["character"] * _characters(label) for label in labels], width)
    rows = places[-1][1] + 1 if places else 0
    return [
        {
            "run": run,
            "label": label,
            "left": (left := x - settings["margins"]["left"] + legend["gap"]),
            "right": left + legend["stroke"],
            "top": -legend["gap"] - legend["row"] * (rows - row - 0.5),
        }
        for run, label, (x, row) in zip(runs, labels, places, strict=True)
    ]


def _characters(text: str) -> float:
    """How wide a text is, in common small letters; capitals are wider, and those of East Asia have two columns."""
    return measure_width(text) + sum(0.25 for letter in text if letter.isupper()) + 0.6 * sum(map(text.count, "MW@"))


def _shortened(text: str, most: float) -> str:
    """A text that is no wider than so many characters, with beginning and end: names of runs differ in either."""
    if _characters(text) <= most:
        return text
    kept = next(count for count in range(len(text) - 1, -1, -1) if _characters(_ends(text, count)) <= most or not count)
    return _ends(text, kept)


def _ends(text: str, count: int) -> str:
    """So many characters of a text: half of them its first, half its last."""
    return f"{text[: count - count // 2]}…{text[len(text) - count // 2 :]}"


def _flow(widths: Sequence[float], room: float) -> list[tuple[float, int]]:
    """Items side by side in rows of a given room: the (offset, row) of each."""
    places: list[tuple[float, int]] = []
    x, row = 0.0, 0
    for width in widths:
        if places and x + width > room:
            x, row = 0.0, row + 1
        places.append((x, row))
        x += width
    return places


def _padding(settings: Mapping[str, Json], legend: Sequence[Mapping[str, Json]]) -> dict[str, float]:
    """The margins, with room above the plot for the legend."""
    margins, measures = settings["margins"], settings["legend"]
    tallest = max((-row["top"] for row in legend), default=0) + measures["row"] / 2
    return {**margins, "top": margins["top"] + tallest}
