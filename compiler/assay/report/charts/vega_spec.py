"""Fill a chart template with the data of a chart or plot: a complete Vega-Lite specification.

A template is a Vega-Lite specification in which a string `"${name}"` is replaced by a value. For plots:

    description  text for screen readers
    rows         [{column: value}]; columns without a value are left out
    alone        those of rows that are isolated points of lines (`line`, `y`), which no line would show
    x_label      label of the x axis
    panels       the plot's panels, in order
    cases        the rows of panels, in order
    legend       those of the panels that a legend names: all if they fit below the plot, and there are several; of many
                 lines those that the plot names
    legend_columns  number of columns of the legend
    colours, dashes  the strokes of the panels, if they are lines (`line_strokes.py`)
    stroked, widths  the panels, and their widths. There is one more of each, as Vega-Lite would merge the legends of
                 scales with equal domains, and give the symbols the size of a width
    padding      {left, right, top, bottom}, pixels: the size of the drawing follows from it

Its `usermeta.assay.margins` are the margins around all panels. A template with panels is faceted: `spec.width` and
`spec.height` are the size of one panel, `spacing` the pixels between rows of panels (or `row` and `column`, if panels
have columns, too). A faceted view has no size of its own unless texts are measured, so the size of its panels is part
of the padding.

For charts:

    description  text for screen readers
    runs         labels of all runs of the report, the base first: a run has one colour in all charts. In place of the
                 runs of a version that has several stands the label of the version
    line         the column that tells lines apart: `run`, or `repeat` if a version has several runs
    points       [{run, order, x, centile}]; if a version has several runs, `repeat` is the label of the run, and
                 `thin` is 1 for its runs. All of this is in `bands` and `tails`, too
    bands        [{run, x, x2, centile}], least and greatest host
    tails        [{run, x, centile}], where a line leaves a cut axis
    legend       [{run, label, left, right, top}], pixels from the plot's corner
    padding      {left, right, top, bottom}, pixels
    x_title      axis title with its unit; a second line when the axis is cut
    x_scale      {type, domain, nice, zero}
    x_ticks      numbers
    x_format     d3 number format
    clip         whether something lies beyond the axis (a clip halves the lines that run along its edge)

Its `usermeta.assay` holds `scale` (`auto`, `linear`, `log`), the `margins` around the plot and the measures of the
legend, which is placed by counting characters.

Every position is computed without measuring text, so no drawing depends on the fonts that happen to be installed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from assay.number_styles.exact_decimal import format_six_digits
from assay.report.charts.axis import Room, Scale, choose_scale, choose_tick_format, find_extent, keep_fitting_labels
from assay.report.charts.line_strokes import assign_strokes, order_rows
from assay.report.document import Chart, Plot, Series
from assay.util.diagnostics import fail, suggest_names
from assay.util.escape import measure_width, shorten_middle

Json = Any

#: legend below a plot: its width, that of a symbol with its margins and of a letter, in pixels; its number of rows
LEGEND_WIDTH, LEGEND_SYMBOL, LEGEND_LETTER, LEGEND_ROWS = 300, 32, 4.6, 4

#: least length of a shortened name in the title of an axis, in letters
LEAST_NAME = 16
#: font size of titles of axes without one in the template, in pixels; width of a letter in font sizes
TITLE_SIZE, TITLE_LETTER = 11, 0.49

#: number of line colours in the templates of timelines
COLOURS = 8


def build_plot_spec(plot: Plot, template: Mapping[str, Json]) -> dict[str, Json]:
    """Return the specification that draws a plot.  Raises `unknown-placeholder`."""
    strokes = template["usermeta"]["assay"].get("strokes")
    named_panels = plot.named or plot.panels
    rows = order_rows(plot) if strokes else plot.rows
    values = {
        "description": plot.description,
        "rows": [_build_row(plot.columns, row) for row in rows],
        "alone": [_build_row(plot.columns, row) for row in _find_isolated(plot)],
        "x_label": plot.x_label,
        "y_title": _build_y_title(plot, template),
        "panels": list(plot.panels),
        "cases": list(plot.cases),
        "legend": list(_choose_legend(named_panels)),
        "legend_columns": _count_columns(named_panels),
        "padding": _compute_plot_padding(template, plot),
    }
    if strokes:
        colours, dashes, widths = zip(*assign_strokes(plot, strokes), strict=True) if plot.panels else ((), (), ())
        values |= {"colours": list(colours), "dashes": list(dashes)}
        values |= {"stroked": [*plot.panels, ""], "widths": [*widths, 0]}
    return remove_empty_layers(fill_placeholders(template, values))


def _build_y_title(plot: Plot, template: Mapping[str, Json]) -> str:
    """Return the title of the y axis; if it is longer than the axis, its name is shortened, not the unit."""
    height = template.get("height") or template.get("spec", {}).get("height", 0)
    if isinstance(height, dict):  # a step for each row: a title of its own has no place
        return plot.y_label
    font_size = template.get("config", {}).get("axis", {}).get("titleFontSize", TITLE_SIZE)
    letters = height / (TITLE_LETTER * font_size)
    if _estimate_width(plot.y_label) <= letters:
        return plot.y_label
    unit = f", {plot.unit}" if plot.unit and plot.y_label.endswith(f", {plot.unit}") else ""
    room = letters - _estimate_width(unit)
    if unit and room < LEAST_NAME:
        return plot.unit
    return f"{_shorten_label(plot.y_label.removesuffix(unit), room)}{unit}"


def is_unnamed(names: tuple[str, ...]) -> bool:
    """Check that lines with these names have no legend because they are too many."""
    return len(names) > 1 and not _choose_legend(names)


def _count_columns(names: tuple[str, ...]) -> int:
    """Return how many columns of a legend fit below a plot, by counting characters."""
    longest = max(map(len, names), default=1)
    return max(1, int(LEGEND_WIDTH // (LEGEND_SYMBOL + LEGEND_LETTER * longest)))


def _choose_legend(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names for a legend; none if they do not fit, or there is only one."""
    if len(names) < 2:
        return ()
    return names if len(names) <= LEGEND_ROWS * _count_columns(names) else ()


def _build_row(columns: tuple[str, ...], row: tuple[Json, ...]) -> dict[str, Json]:
    return {column: value for column, value in zip(columns, row, strict=True) if value is not None}


def _find_isolated(plot: Plot) -> Iterator[tuple[Json, ...]]:
    """Yield the points of lines without a neighbour on either side, also because the line breaks there."""
    if not {"line", "y"} <= set(plot.columns):
        return
    line, y = plot.columns.index("line"), plot.columns.index("y")
    names_at = [row[line] if row[line] is not None and row[y] is not None else None for row in plot.rows]
    for index, (previous_name, name, next_name) in enumerate(
        zip([None, *names_at], names_at, [*names_at[1:], None], strict=False)
    ):
        if name is not None and name not in (previous_name, next_name):
            yield plot.rows[index]


def _compute_plot_padding(template: Mapping[str, Json], plot: Plot) -> dict[str, float]:
    """Return the margins, plus the size of the panels if there are any."""
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


def build_chart_spec(chart: Chart, template: Mapping[str, Json], runs: Sequence[str] = ()) -> dict[str, Json]:
    """Return the specification that draws `chart` of a report over `runs` (`list_line_names`).

    Raises `unknown-placeholder`: the template uses a name that charts do not have.
    """
    settings = template["usermeta"]["assay"]
    scale = choose_scale(chart.series, settings["scale"] if chart.scale == "auto" else chart.scale)
    margins = settings["margins"]
    axis = keep_fitting_labels(scale, Room(template["width"], margins["left"], margins["right"]))
    width = template["width"] + margins["left"]
    legend = _build_legend(_list_names(chart), settings, width)
    has_repeats = any(item.version for item in chart.series)
    lines = [(item, _name_line(item, has_repeats)) for item in chart.series]
    values: dict[str, Json] = {
        "description": describe_chart(chart),
        "padding": _compute_padding(settings, legend),
        "runs": _list_lines(chart, runs),
        "line": "repeat" if has_repeats else "run",
        "points": [row for item, line in lines for row in _build_points(item, line)],
        "bands": [row for item, line in lines for row in _build_bands(item, line)],
        "tails": [row for item, line in lines for row in _build_tails(item, line, scale)],
        "legend": legend,
        "x_title": _build_x_title(chart, scale),
        "x_scale": {"type": scale.kind, "domain": [scale.low, scale.high], "nice": False, "zero": False},
        "x_ticks": list(axis.ticks),
        "x_format": choose_tick_format(axis.ticks),
        "clip": any(_is_cut(chart, scale)),
    }
    return remove_empty_layers(fill_placeholders(template, values))


def _list_lines(chart: Chart, runs: Sequence[str]) -> list[Json]:
    """Return the names of lines in the order of colours: all runs of the report, unless none of the lines is a run."""
    names = _list_names(chart)
    return list(dict.fromkeys([*(runs if {*runs} & {*names} else ()), *names]))


def _list_names(chart: Chart) -> list[str]:
    """Return the names of the lines of a chart: those of runs, or of versions of several runs."""
    return list(dict.fromkeys(item.version or item.run for item in chart.series))


def remove_empty_layers(spec: dict[str, Json]) -> dict[str, Json]:
    """Remove the layers whose named data is empty, since each costs drawing time, and the data that only they read.

    Other layers of the template stay as they are.
    """
    empty = {name for name, rows in spec.get("datasets", {}).items() if not rows}
    layers = [layer for layer in spec.get("layer", []) if not _get_data_name(layer.get("data")) & empty]
    reduced = {**spec, "layer": layers} if "layer" in spec else spec
    if not empty:
        return reduced
    data_names = set(_find_data_names({**reduced, "datasets": {}}))
    return {
        **reduced,
        "datasets": {name: rows for name, rows in spec["datasets"].items() if rows or name in data_names},
    }


def _get_data_name(data: Json) -> set[str]:
    """Return the name of named data, as a set."""
    name = data.get("name") if isinstance(data, Mapping) else None
    return {name} if isinstance(name, str) else set()


def _find_data_names(node: Json) -> Iterator[str]:
    """Yield the names of all data that a specification reads."""
    if isinstance(node, Mapping):
        yield from _get_data_name(node.get("data"))
    for item in node.values() if isinstance(node, Mapping) else node if isinstance(node, list) else ():
        yield from _find_data_names(item)


def fill_placeholders(node: Json, values: Mapping[str, Json]) -> Json:
    """Replace every `"${name}"` of a tree by the value of that name."""
    if isinstance(node, Mapping):
        return {key: fill_placeholders(item, values) for key, item in node.items()}
    if isinstance(node, list):
        return [fill_placeholders(item, values) for item in node]
    if isinstance(node, str) and node.startswith("${") and node.endswith("}"):
        return _get_value(node[2:-1], values)
    return node


def _get_value(name: str, values: Mapping[str, Json]) -> Json:
    if name not in values:
        raise fail(
            "unknown-placeholder",
            f"a chart template has an unknown placeholder `{name}`",
            hint=suggest_names(name, values),
        )
    return values[name]


def _name_line(series: Series, has_repeats: bool) -> dict[str, Json]:
    """Return the columns that say which line a row belongs to."""
    if not has_repeats:
        return {"run": series.run}
    thin = {"thin": 1} if series.version else {}
    return {"run": series.version or series.run, "repeat": series.run, **thin}


def _build_points(series: Series, line: Mapping[str, Json]) -> list[dict[str, Json]]:
    return [{**line, "order": order, "x": point[0], "centile": point[1]} for order, point in enumerate(series.points)]


def _build_bands(series: Series, line: Mapping[str, Json]) -> list[dict[str, Json]]:
    """Return the least and greatest host at every centile; nothing if all hosts agree."""
    rows = [
        {**line, "x": low, "x2": high, "centile": centile}
        for _, centile, low, high in series.points
        if low is not None and high is not None
    ]
    return rows if any(row["x"] != row["x2"] for row in rows) else []


def _build_tails(series: Series, line: Mapping[str, Json], scale: Scale) -> list[dict[str, Json]]:
    """Return a mark at each end of the axis beyond which the run has samples."""
    marks = []
    below = [point for point in series.points if point[0] < scale.low]
    above = [index for index, point in enumerate(series.points) if point[0] > scale.high]
    if below:
        marks.append({**line, "x": scale.low, "centile": below[-1][1]})
    if above:
        marks.append({**line, "x": scale.high, "centile": series.points[max(above[0] - 1, 0)][1]})
    return marks


def _build_x_title(chart: Chart, scale: Scale) -> list[str]:
    """Return the axis title with its unit and, if the axis is cut, the range of the values."""
    label, unit = chart.x_label, chart.unit
    has_unit = not unit or label == unit or label.endswith(f", {unit}")
    title = label if has_unit else f"{label}, {unit}".lstrip(", ")
    low, high = find_extent(chart.series)
    below, above = _is_cut(chart, scale)
    ranges = [f"from {_format_beyond(low, scale.low)}"] if below else []
    ranges += [f"up to {_format_beyond(high, scale.high)}"] if above else []
    return [title, f"axis cut: values {' '.join(ranges)}"] if ranges else [title]


def _is_cut(chart: Chart, scale: Scale) -> tuple[bool, bool]:
    """Check whether values lie below, and above, the axis."""
    low, high = find_extent(chart.series)
    return low < scale.low, high > scale.high


def _format_beyond(x: float, end: float) -> str:
    """Format a number beyond the end of an axis without an exponent, with as many digits (4 or more) as show that."""
    texts = (format(Decimal(f"{x:.{digits}g}"), "f") for digits in range(4, 18))
    return next(text for text in texts if (float(text) > end) is (x > end) and float(text) != end)


def describe_chart(chart: Chart) -> str:
    """Describe a chart for readers who cannot see it: its contents and each run's median."""
    unit = f" {chart.unit}" if chart.unit else ""
    middle = [(item.run, point[0]) for item in chart.series for point in item.points if point[1] == 0.5]
    medians = [f"{run} {format_six_digits(median)}{unit}" for run, median in middle]
    text = f"Cumulative distribution of {chart.caption}"
    return f"{text}. Medians: {'; '.join(medians)}." if medians else f"{text}."


def _build_legend(runs: Sequence[str], settings: Mapping[str, Json], width: float) -> list[dict[str, Json]]:
    """Return the positions of each run's stroke and label: rows above the plot, filled like lines of text.

    The width of a label is estimated from its characters, never measured; one longer than a row is shortened.
    """
    legend = settings["legend"]
    frame = legend["stroke"] + 3 * legend["gap"]
    labels = [_shorten_label(run, (width - frame) / legend["character"]) for run in runs]
    places = _place_items([frame + legend["character"] * _estimate_width(label) for label in labels], width)
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


def _estimate_width(text: str) -> float:
    """Return the width of a text in average lower-case letters.

    Capitals are wider, and East Asian letters have two columns.
    """
    return measure_width(text) + sum(0.25 for letter in text if letter.isupper()) + 0.6 * sum(map(text.count, "MW@"))


def _shorten_label(text: str, max_width: float) -> str:
    """Shorten a text to a width; its start and end stay, as names of runs differ in either."""
    if _estimate_width(text) <= max_width:
        return text
    length = next(
        count
        for count in range(len(text) - 1, -1, -1)
        if _estimate_width(shorten_middle(text, count)) <= max_width or not count
    )
    return shorten_middle(text, length)


def _place_items(widths: Sequence[float], room: float) -> list[tuple[float, int]]:
    """Place items side by side in rows of a given width: the (offset, row) of each."""
    places: list[tuple[float, int]] = []
    x, row = 0.0, 0
    for width in widths:
        if places and x + width > room:
            x, row = 0.0, row + 1
        places.append((x, row))
        x += width
    return places


def _compute_padding(settings: Mapping[str, Json], legend: Sequence[Mapping[str, Json]]) -> dict[str, float]:
    """Return the margins, with room above the plot for the legend."""
    margins, measures = settings["margins"], settings["legend"]
    tallest = max((-row["top"] for row in legend), default=0) + measures["row"] / 2
    return {**margins, "top": margins["top"] + tallest}
