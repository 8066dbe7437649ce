"""Figures of an article: rows as points, series over time, and grids of both; those of several runs side by side."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from assay.lang.chart_templates import MARKED
from assay.lang.model.article import Grid, Part, Scatter, Timeline
from assay.lang.model.package import Series
from assay.report.blocks import line_names
from assay.report.blocks import rows as asked
from assay.report.blocks.rows import Row, ordered
from assay.report.blocks.tables import RenderContext, ShownRun, titled
from assay.report.charts.vega_spec import COLOURS, is_unnamed
from assay.report.document import Plot, Value
from assay.report.run_results import named_once, row_label
from assay.styles.exact_decimal import six_digits
from assay.util.numbers import format_count

SECOND = 1_000_000_000
MEAN = "mean"
#: the column of a timeline's points that tells their line
LINE = "line"
#: points nearer to each other than these parts of both axes are drawn once: in a figure, in a panel of a grid
FINE, COARSE = (400, 200), (80, 40)

#: room above the highest line, as a part of the axis
HEADROOM = 0.04

#: distances of two values, as parts of the series' step, from which on samples are missing between them
GAP = 1.5
#: from how many seconds on an axis is in which unit, and how many seconds that has
UNITS = ((2 * 3600.0, "hours", 3600), (600.0, "minutes", 60), (0.0, "seconds", 1))

Point = tuple[float, float]
Line = Sequence[tuple[float, float | None]]
"""Points of a line; where one has no value, the line breaks."""


@dataclass(frozen=True, slots=True)
class Cloud:
    """The points of a scatter in a run: what the figure is called, what it stands beside, and the points."""

    said: str
    key: tuple[object, ...]
    points: Sequence[Point]

    @property
    def mean(self) -> float:
        """The mean of the points' values."""
        return math.fsum(y for _, y in self.points) / len(self.points)


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


def file_name(text: str) -> str:
    """A text as part of the name of a file."""
    return re.sub(r"[^\w.+-]", "-", text)


# Scatters


def scatters(setting: RenderContext, scatter: Scatter, runs: Sequence[ShownRun]) -> Iterator[Plot | None]:
    """The figures of a scatter, those that agree in its keys beside each other, an empty place where a run has none."""
    found = [{cloud.key: cloud for cloud in clouds(setting, scatter, shown)} for shown in runs]
    for place, key in enumerate(dict.fromkeys(key for of_run in found for key in of_run), start=1):
        beside = [of_run.get(key) for of_run in found]
        edges = _edges([cloud.points for cloud in beside if cloud]) if len(runs) > 1 else ()
        for shown, cloud in zip(runs, beside, strict=True):
            yield _scatter(setting, scatter, shown, cloud, place, edges) if cloud else None


def _scatter(
    setting: RenderContext, scatter: Scatter, shown: ShownRun, cloud: Cloud, place: int, edges: Sequence[Point]
) -> Plot:
    x, y = (setting.checked.metric(name) for name in (scatter.x, scatter.y))
    rows = (
        *((*point, None, None) for point in _thinned(cloud.points, FINE)),
        (None, None, cloud.mean, None),
        *((*point, None, 1.0) for point in edges),
    )
    what = f"{y.name} over {x.name} of {format_count(len(cloud.points), 'row')} ({cloud.said})"
    return Plot(
        f"scatter-{file_name(shown.run.id)}-{y.id}-{place}",
        1,
        titled(f"{scatter.title}, {cloud.said}", shown.titled),
        y.unit.symbol,
        f"{what}; mean {six_digits(cloud.mean)} {y.unit.symbol}",
        scatter.template,
        ("x", "y", "mean", "edge"),
        rows,
        x_label=row_label(x.name, x.unit.symbol),
        shows=(y.id, x.id),
    )


def clouds(setting: RenderContext, scatter: Scatter, shown: ShownRun) -> Iterator[Cloud]:
    """The points of a run for each value of the scatter's column, in the order of its label columns."""
    points, names = asked.of_scatter(setting.checked, scatter)
    x, y = setting.checked.metric(scatter.x), setting.checked.metric(scatter.y)
    called = {row[scatter.per]: row for row in asked.rows(shown.run, names)}
    groups: dict[object, list[Point]] = {}
    for row in asked.rows(shown.run, points):
        pair = setting.number(x, row), setting.number(y, row)
        if pair[0] is not None and pair[1] is not None:
            groups.setdefault(row[scatter.per], []).append((pair[0], pair[1]))
    seen: dict[tuple[object, ...], int] = {}
    for group in sorted(groups, key=lambda group: tuple(ordered(called[group][name]) for name in scatter.label)):
        said = ", ".join(f"{name.replace('_', ' ')} {called[group][name]}" for name in scatter.label)
        keys = tuple(called[group][name] for name in scatter.keys)
        seen[keys] = seen.get(keys, 0) + 1
        yield Cloud(said, (*keys, seen[keys]), groups[group])


def _edges(clouds_: Sequence[Sequence[Point]]) -> tuple[Point, ...]:
    """Two points that make the axes of several figures the same."""
    xs = [x for points in clouds_ for x, _ in points]
    ys = [y for points in clouds_ for _, y in points]
    return ((min(xs), min(ys)), (max(xs), max(ys)))


def _thinned(pairs: Sequence[Point], grid: tuple[int, int]) -> list[Point]:
    """One point of those that an eye cannot tell apart, the first in order; in order of x, then y."""
    xs, ys = [x for x, _ in pairs], [y for _, y in pairs]
    left, low = min(xs), min(ys)
    width, height = max(xs) - left or 1.0, max(ys) - low or 1.0
    kept: dict[tuple[int, int], Point] = {}
    for x, y in sorted(pairs):
        kept.setdefault((int((x - left) / width * grid[0]), int((y - low) / height * grid[1])), (x, y))
    return list(kept.values())


# Timelines


def timelines(setting: RenderContext, item: Timeline, runs: Sequence[ShownRun]) -> list[Plot | None]:
    """The figure of each run, with the same axes; an empty place where a run has no row of the choice."""
    found = [lines(setting, item, shown) for shown in runs]
    there = [held for held in found if held and held.drawn]
    if not there:
        return []
    edges = _frame(there, stacked=item.stacked)
    return [
        _timeline(setting, item, shown, held, edges) if held and held.drawn else None
        for shown, held in zip(runs, found, strict=True)
    ]


def not_drawn(setting: RenderContext, part: Part, runs: Sequence[ShownRun]) -> Iterator[str]:
    """What a part says of its figures that have no points."""
    for shown in runs:
        found = [(item.title, lines(setting, item, shown)) for item in part.timelines]
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


def _frame(held: Sequence[Lines], *, stacked: bool) -> tuple[Point, Point]:
    """Two points that make the axes of several figures the same, with room above the highest line."""
    bounds = [found.bounds(stacked=stacked) for found in held]
    low, high = min((low for low, _ in bounds), default=0.0), max((high for _, high in bounds), default=0.0)
    high = high + HEADROOM * (high - min(low, 0.0)) or 1.0
    return (0.0, low), (max((found.length for found in held), default=0.0), high)


def _timeline(setting: RenderContext, item: Timeline, shown: ShownRun, held: Lines, edges: Sequence[Point]) -> Plot:
    series = next(found for found in setting.checked.package.series if found.name == item.series)
    label, size = time_unit(edges[1][0])
    points = tuple((line, x / size, y) for line, found in held.lines.items() for x, y in found)
    count = sum(y is not None for _, _, y in points)
    symbol = series.unit.symbol
    names = ["series", file_name(shown.run.id), file_name(item.choice), item.series, "mean" if item.alone else ""]
    panels = sorted(held.lines, key=lambda line: line != MEAN)
    marks = [(name, (t_ns - held.first) / SECOND / size) for name, t_ns in setting.instants.get(shown.run.id, ())]
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


def lines(setting: RenderContext, item: Timeline, shown: ShownRun) -> Lines | None:
    """The lines of a run, by their names; None where it has no row of the choice.  The mean over lines is the last."""
    series = next(found for found in setting.checked.package.series if found.name == item.series)
    rows: Sequence[Row] = asked.rows(shown.run, series)
    times = [int(str(row["t_ns"])) for row in rows]
    span = setting.times(item.choice, shown.run) if item.choice else asked.span(shown.run, series)
    if span is None:
        return None
    first, last = span
    found: dict[str, Line] = {}
    values_of: dict[str, list[Point]] = {}
    names = {} if item.alone else line_names.names(series.by, item.line, (_key(series, row) for row in rows), (MEAN,))
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


def _key(series: Series, row: Row) -> line_names.Key:
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


def alone(points: Line) -> Iterator[tuple[float, float | None]]:
    """The points of a line that have none before and none behind them: no stroke shows these."""
    values = [None, *(y for _, y in points), None]
    for before, point, behind in zip(values, points, values[2:], strict=False):
        if point[1] is not None and before is None and behind is None:
            yield point


# Grids


@dataclass(frozen=True, slots=True)
class Panel:
    """A column of a grid: its title, and what stands in it for each case: points and their mean, or
    lines; `shows` are the ids of metrics and series."""

    title: str
    edges: Sequence[Point]
    points: Sequence[Sequence[Point]] = ()
    levels: Sequence[float | None] = ()
    lines: Sequence[Mapping[str, Line]] = ()
    shows: tuple[str, ...] = ()


def grids(setting: RenderContext, grid: Grid, cases: Sequence[ShownRun], most: int, place: str) -> Iterator[Plot]:
    """The drawings of a grid, with so many columns each at most."""
    panels = [_scattered(setting, grid, item, cases) for item in grid.scatters]
    panels += [_lined(setting, grid, item, cases) for item in grid.timelines]
    parts = -(-len(panels) // most)
    size = -(-len(panels) // max(parts, 1))
    for part in range(parts):
        held = panels[part * size : (part + 1) * size]
        names = ", ".join(panel.title for panel in held)
        yield Plot(
            f"grid-{place}-{part + 1}",
            1,
            grid.title if part == 0 else f"{grid.title}, continued",
            "",
            f"{names}, a column each; a row for each of {', '.join(shown.label for shown in cases)}",
            grid.template,
            ("case", "panel", "x", "y", "line", "mark", "text"),
            tuple(_grid_rows(held, [shown.label for shown in cases])),
            tuple(panel.title for panel in held),
            tuple(shown.label for shown in cases),
            shows=tuple(dict.fromkeys(name for panel in held for name in panel.shows)),
        )


def _grid_rows(panels: Sequence[Panel], cases: Sequence[str]) -> Iterator[tuple[Value, ...]]:
    """Case, panel, x, y, line, what it is (edge, point, level, line, mean; of names: panel, case), a name."""
    for panel in panels:
        yield cases[0], panel.title, None, None, None, "panel", panel.title
        for case in cases:
            yield from ((case, panel.title, x, y, None, "edge", None) for x, y in panel.edges)
        for case, points in zip(cases, panel.points, strict=False):
            yield from ((case, panel.title, x, y, None, "point", None) for x, y in points)
        for case, level in zip(cases, panel.levels, strict=False):
            if level is not None:
                yield case, panel.title, None, level, None, "level", None
        for case, held in zip(cases, panel.lines, strict=False):
            for line, found in held.items():
                mark = "mean" if line == MEAN else "line"
                yield from ((case, panel.title, x, y, line, mark, None) for x, y in found)
                if line != MEAN:
                    yield from ((case, panel.title, x, y, None, "point", None) for x, y in alone(found))
    if panels:
        yield from ((case, panels[0].title, None, None, None, "case", case) for case in cases)


def _scattered(setting: RenderContext, grid: Grid, scatter: Scatter, cases: Sequence[ShownRun]) -> Panel:
    """All points of each run, or those of the chosen row."""
    found = [_points(setting, grid, scatter, shown) for shown in cases]
    there = [points for points in found if points]
    symbol = setting.checked.metric(scatter.y).unit.symbol
    return Panel(
        row_label(scatter.title, symbol),
        _edges(there) if there else (),
        points=[_thinned(points, COARSE) if points else [] for points in found],
        levels=[math.fsum(y for _, y in points) / len(points) if points else None for points in found],
        shows=(scatter.y, scatter.x),
    )


def _points(setting: RenderContext, grid: Grid, scatter: Scatter, shown: ShownRun) -> list[Point]:
    listed, _ = asked.of_scatter(setting.checked, scatter)
    x, y = setting.checked.metric(scatter.x), setting.checked.metric(scatter.y)
    chosen = setting.row(grid.choice, shown.run)
    if grid.choice and chosen is None:
        return []
    rows = asked.rows(shown.run, listed)
    pairs = (
        (setting.number(x, row), setting.number(y, row))
        for row in rows
        if chosen is None or row[scatter.per] == chosen[scatter.per]
    )
    return [(x, y) for x, y in pairs if x is not None and y is not None]


def _lined(setting: RenderContext, grid: Grid, item: Timeline, cases: Sequence[ShownRun]) -> Panel:
    """The lines of each run in the time of the chosen row."""
    series = next(found for found in setting.checked.package.series if found.name == item.series)
    held = [lines(setting, dataclasses.replace(item, choice=grid.choice), shown) for shown in cases]
    edges = _frame([found for found in held if found], stacked=False)
    shown = [found.lines if found else {} for found in held]
    return Panel(named_once(item.title, series.unit.symbol), edges, lines=shown, shows=(item.series,))
