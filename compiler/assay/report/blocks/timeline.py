"""Render timelines: series over time, the figures of several runs side by side."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from assay.lang.blocks.timeline import Timeline
from assay.lang.chart_templates import MARKED
from assay.lang.model.package import Series
from assay.report.blocks import rows as asked
from assay.report.blocks.context import RenderContext, Rendered, ShownRun, renders, titled
from assay.report.blocks.rows import Row
from assay.report.blocks.scatter import Point, file_name
from assay.report.charts.vega_spec import COLOURS, is_unnamed
from assay.report.document import Plot
from assay.report.run_results import named_once
from assay.util.numbers import format_count

SECOND = 1_000_000_000
MEAN = "mean"
#: the column of a timeline's points that tells their line
LINE = "line"

#: room above the highest line, as a part of the axis
HEADROOM = 0.04

#: distances of two values, as parts of the series' step, from which on samples are missing between them
GAP = 1.5
#: from how many seconds on an axis is in which unit, and how many seconds that has
UNITS = ((2 * 3600.0, "hours", 3600), (600.0, "minutes", 60), (0.0, "seconds", 1))

Line = Sequence[tuple[float, float | None]]
"""Points of a line; where one has no value, the line breaks."""


@renders(Timeline, position=20)
def render(context: RenderContext, items: Sequence[Timeline]) -> Rendered:
    """Render the figures of each timeline."""
    plots = context.number_plots(plot for item in items for plot in timelines(context, item, context.runs))
    gaps = (*not_drawn(context, items, context.runs), *not_named(plots))
    return Rendered(plots, choices=tuple(item.choice for item in items), gaps=gaps)


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a timeline in a run, in seconds since its beginning, how long it is, and when it begins (ns)."""

    lines: Mapping[str, Line] = field(default_factory=dict)
    length: float = 0.0
    first: int = 0

    @property
    def drawn(self) -> bool:
        """Whether there is a point."""
        return any(self.lines.values())

    def bounds(self, *, stacked: bool) -> tuple[float, float]:
        """The least and the greatest value; of layers that of all together."""
        values = [y for points in self.lines.values() for _, y in points if y is not None]
        if stacked:
            sums: dict[float, list[float]] = {}
            for points in self.lines.values():
                for x, y in points:
                    sums.setdefault(x, []).append(y or 0.0)
            values = [0.0, *(math.fsum(found) for found in sums.values())]
        return min(values, default=0.0), max(values, default=0.0)


def timelines(context: RenderContext, item: Timeline, runs: Sequence[ShownRun]) -> list[Plot | None]:
    """The figure of each run, with the same axes; an empty place where a run has no row of the choice."""
    found = [lines(context, item, shown) for shown in runs]
    there = [held for held in found if held and held.drawn]
    if not there:
        return []
    edges = frame_lines(there, stacked=item.stacked)
    return [
        _timeline(context, item, shown, held, edges) if held and held.drawn else None
        for shown, held in zip(runs, found, strict=True)
    ]


def not_drawn(context: RenderContext, items: Sequence[Timeline], runs: Sequence[ShownRun]) -> Iterator[str]:
    """What a part says of its figures that have no points."""
    for shown in runs:
        found = [(item.title, lines(context, item, shown)) for item in items]
        titles = [title for title, held in found if held and not held.drawn]
        if titles:
            yield f"There are no samples of: {', '.join(titles)}{f' ({shown.titled})' if shown.titled else ''}."


def not_named(plots: Sequence[Plot | None]) -> Iterator[str]:
    """What a part says of its timelines (numbered) whose lines cannot be told apart in print."""
    lined = [plot for plot in plots if plot and LINE in plot.columns]
    unnamed = [str(plot.figure) for plot in lined if is_unnamed(plot.panels)]
    alike = [str(plot.figure) for plot in lined if len([name for name in plot.panels if name != MEAN]) > COLOURS]
    if unnamed:
        yield f"Too many lines for a printed legend: {_figures(unnamed)}."
    if alike:
        yield f"More lines than colours ({COLOURS}), so that some share one: {_figures(alike)}."


def _figures(numbers: Sequence[str]) -> str:
    return f"figure{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}"


def frame_lines(held: Sequence[Lines], *, stacked: bool) -> tuple[Point, Point]:
    """Two points that make the axes of several figures the same, with room above the highest line."""
    bounds = [found.bounds(stacked=stacked) for found in held]
    low, high = min((low for low, _ in bounds), default=0.0), max((high for _, high in bounds), default=0.0)
    high = high + HEADROOM * (high - min(low, 0.0)) or 1.0
    return (0.0, low), (max((found.length for found in held), default=0.0), high)


def _timeline(context: RenderContext, item: Timeline, shown: ShownRun, held: Lines, edges: Sequence[Point]) -> Plot:
    series = next(found for found in context.checked.package.series if found.name == item.series)
    label, size = time_unit(edges[1][0])
    points = tuple((line, x / size, y) for line, found in held.lines.items() for x, y in found)
    count = sum(y is not None for _, _, y in points)
    symbol = series.unit.symbol
    names = ["series", file_name(shown.run.id), file_name(item.choice), item.series, "mean" if item.alone else ""]
    panels = sorted(held.lines, key=lambda line: line != MEAN)
    marks = [
        (name, (t_ns - held.first) / SECOND / size) for name, t_ns in context.compared.instants.get(shown.run.id, ())
    ]
    rows: tuple[tuple[str | float | None, ...], ...] = (*points, *((None, x / size, y) for x, y in edges))
    if marks:
        rows = (*((*row, None) for row in rows), *((None, x, None, name) for name, x in marks))
    return Plot(
        "-".join(name for name in names if name),
        1,
        titled(named_once(item.title, symbol), shown.titled),
        symbol,
        f"{item.title} over time: {format_count(len(held.lines), 'line')}, {format_count(count, 'point')}"
        + "".join(f"; {name} marked" for name, _ in marks),
        item.template + MARKED if marks else item.template,
        (LINE, "x", "y", "mark") if marks else (LINE, "x", "y"),
        rows,
        tuple(panels),
        x_label=label,
        shows=(item.series,),
    )


def lines(context: RenderContext, item: Timeline, shown: ShownRun) -> Lines | None:
    """The lines of a run, by their names; None where it has no row of the choice.  The mean over lines is the last."""
    series = next(found for found in context.checked.package.series if found.name == item.series)
    rows: Sequence[Row] = asked.rows(shown.run, series)
    times = [int(str(row["t_ns"])) for row in rows]
    span = context.times(item.choice, shown.run) if item.choice else asked.span(shown.run, series)
    if span is None:
        return None
    first, last = span
    found: dict[str, Line] = {}
    values_of: dict[str, list[Point]] = {}
    names = {} if item.alone else asked.name_keys(series.by, item.line, (_key(series, row) for row in rows), (MEAN,))
    at: dict[float, list[float]] = {}
    for row, t_ns in zip(rows, times, strict=True):
        if first <= t_ns <= last:
            x, value = (t_ns - first) / SECOND, float(str(row["value"]))
            if not math.isfinite(value):  # the lines that have a value then are drawn, and make the mean
                continue
            at.setdefault(x, []).append(value)
            if not item.alone:
                values_of.setdefault(names[_key(series, row)], []).append((x, value))
    if item.mean:
        values_of[MEAN] = [(x, math.fsum(values) / len(values)) for x, values in sorted(at.items())]
    every = int(str(shown.run.constants[series.every])) if series.every else series.every_ns
    # Layers are sums: one that ends leaves the others where they are.
    found |= {name: points if item.stacked else broken(points, every / SECOND) for name, points in values_of.items()}
    return Lines(found, (last - first) / SECOND, first)


def _key(series: Series, row: Row) -> asked.Key:
    """The labels of the line that a row is of."""
    return tuple(row[name] for name in series.by)


def time_unit(length: float) -> tuple[str, int]:
    """The unit of an axis that is so many seconds long, and how many seconds that has."""
    return next((name, size) for least, name, size in UNITS if length >= least)


def broken(points: Sequence[Point], every: float) -> Line:
    """The points with one without a value wherever steps (of so many seconds; 0: it is not known) are missing."""
    found: list[tuple[float, float | None]] = []
    for x, y in points:
        if found and every and x - found[-1][0] > GAP * every:
            found.append(((found[-1][0] + x) / 2, None))
        found.append((x, y))
    return found
