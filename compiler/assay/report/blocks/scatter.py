"""Render scatters: rows as points, the figures of several runs side by side."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.lang.blocks.scatter import Scatter
from assay.report.blocks import rows as asked
from assay.report.blocks.context import RenderContext, Rendered, ShownRun, renders, titled
from assay.report.blocks.rows import ordered
from assay.report.document import Plot
from assay.report.run_results import row_label
from assay.styles.exact_decimal import six_digits
from assay.util.numbers import format_count

#: points nearer to each other than these parts of both axes are drawn once: in a figure, in a panel of a grid
FINE, COARSE = (400, 200), (80, 40)

Point = tuple[float, float]


@renders(Scatter, position=10)
def render(context: RenderContext, items: Sequence[Scatter]) -> Rendered:
    """Render the figures of each scatter."""
    return Rendered(context.number_plots(plot for item in items for plot in scatters(context, item, context.runs)))


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


def file_name(text: str) -> str:
    """A text as part of the name of a file."""
    return re.sub(r"[^\w.+-]", "-", text)


def scatters(context: RenderContext, scatter: Scatter, runs: Sequence[ShownRun]) -> Iterator[Plot | None]:
    """The figures of a scatter, those that agree in its keys beside each other, an empty place where a run has none."""
    found = [{cloud.key: cloud for cloud in clouds(context, scatter, shown)} for shown in runs]
    for place, key in enumerate(dict.fromkeys(key for of_run in found for key in of_run), start=1):
        beside = [of_run.get(key) for of_run in found]
        edges = frame_points([cloud.points for cloud in beside if cloud]) if len(runs) > 1 else ()
        for shown, cloud in zip(runs, beside, strict=True):
            yield _scatter(context, scatter, shown, cloud, place, edges) if cloud else None


def _scatter(
    context: RenderContext, scatter: Scatter, shown: ShownRun, cloud: Cloud, place: int, edges: Sequence[Point]
) -> Plot:
    x, y = (context.checked.metric(name) for name in (scatter.x, scatter.y))
    rows = (
        *((*point, None, None) for point in thin_points(cloud.points, FINE)),
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


def clouds(context: RenderContext, scatter: Scatter, shown: ShownRun) -> Iterator[Cloud]:
    """The points of a run for each value of the scatter's column, in the order of its label columns."""
    points, names = asked.listed_of(context.checked, scatter)
    x, y = context.checked.metric(scatter.x), context.checked.metric(scatter.y)
    called = {row[scatter.per]: row for row in asked.rows(shown.run, names)}
    groups: dict[object, list[Point]] = {}
    for row in asked.rows(shown.run, points):
        pair = context.number(x, row), context.number(y, row)
        if pair[0] is not None and pair[1] is not None:
            groups.setdefault(row[scatter.per], []).append((pair[0], pair[1]))
    seen: dict[tuple[object, ...], int] = {}
    for group in sorted(groups, key=lambda group: tuple(ordered(called[group][name]) for name in scatter.label)):
        said = ", ".join(f"{name.replace('_', ' ')} {called[group][name]}" for name in scatter.label)
        keys = tuple(called[group][name] for name in scatter.keys)
        seen[keys] = seen.get(keys, 0) + 1
        yield Cloud(said, (*keys, seen[keys]), groups[group])


def frame_points(clouds_: Sequence[Sequence[Point]]) -> tuple[Point, ...]:
    """Two points that make the axes of several figures the same."""
    xs = [x for points in clouds_ for x, _ in points]
    ys = [y for points in clouds_ for _, y in points]
    return ((min(xs), min(ys)), (max(xs), max(ys)))


def thin_points(pairs: Sequence[Point], grid: tuple[int, int]) -> list[Point]:
    """One point of those that an eye cannot tell apart, the first in order; in order of x, then y."""
    xs, ys = [x for x, _ in pairs], [y for _, y in pairs]
    left, low = min(xs), min(ys)
    width, height = max(xs) - left or 1.0, max(ys) - low or 1.0
    kept: dict[tuple[int, int], Point] = {}
    for x, y in sorted(pairs):
        kept.setdefault((int((x - left) / width * grid[0]), int((y - low) / height * grid[1])), (x, y))
    return list(kept.values())
