"""Render scatters: rows as points, the figures of several runs side by side."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from assay.lang.blocks.scatter import Scatter
from assay.number_styles.exact_decimal import format_six_digits
from assay.report.blocks import rows as block_rows
from assay.report.blocks.context import RenderContext, RenderedBlocks, ShownRun, add_label_to_title, register_renderer
from assay.report.blocks.rows import get_sort_key
from assay.report.document import Plot
from assay.report.run_results import add_unit
from assay.util.numbers import format_count

#: cells along both axes, in each of which one point is drawn: in a figure, in a panel of a grid
FINE, COARSE = (400, 200), (80, 40)

Point = tuple[float, float]


@register_renderer(Scatter)
def render(context: RenderContext, items: Sequence[Scatter]) -> RenderedBlocks:
    """Render the figures of each scatter."""
    return RenderedBlocks(
        context.number_plots(plot for item in items for plot in build_scatter_plots(context, item, context.runs))
    )


@dataclass(frozen=True, slots=True)
class Cloud:
    """The points of a scatter in a run: the description of the figure, the key of its row of figures, the points."""

    description: str
    key: tuple[object, ...]
    points: Sequence[Point]

    @property
    def mean(self) -> float:
        """The mean of the points' values."""
        return math.fsum(y for _, y in self.points) / len(self.points)


def format_file_name(text: str) -> str:
    """Return a text as part of a file name."""
    return re.sub(r"[^\w.+-]", "-", text)


def build_scatter_plots(context: RenderContext, scatter: Scatter, runs: Sequence[ShownRun]) -> Iterator[Plot | None]:
    """Yield the figures of a scatter, those with the same keys side by side; None where a run lacks the figure."""
    clouds_by_key = [{cloud.key: cloud for cloud in build_clouds(context, scatter, shown_run)} for shown_run in runs]
    for row_number, key in enumerate(dict.fromkeys(key for run_clouds in clouds_by_key for key in run_clouds), start=1):
        row_clouds = [run_clouds.get(key) for run_clouds in clouds_by_key]
        edges = frame_points([cloud.points for cloud in row_clouds if cloud]) if len(runs) > 1 else ()
        for shown_run, cloud in zip(runs, row_clouds, strict=True):
            plot = _build_scatter_plot(context, scatter, shown_run, cloud, edges) if cloud else None
            yield plot and replace(plot, id=f"{plot.id}-{row_number}")


def _build_scatter_plot(
    context: RenderContext, scatter: Scatter, shown_run: ShownRun, cloud: Cloud, edges: Sequence[Point]
) -> Plot:
    """Return the plot of a cloud, whose id names the run and y."""
    x, y = (context.checked.get_metric(name) for name in (scatter.x, scatter.y))
    rows = (
        *((*point, None, None) for point in thin_points(cloud.points, FINE)),
        (None, None, cloud.mean, None),
        *((*point, None, 1.0) for point in edges),
    )
    description = f"{y.name} over {x.name} of {format_count(len(cloud.points), 'row')}"
    description += f" ({cloud.description})" if cloud.description else ""
    return Plot(
        f"scatter-{format_file_name(shown_run.run.id)}-{y.id}",
        1,
        add_label_to_title(", ".join(filter(None, (scatter.title, cloud.description))), shown_run.title_label),
        y.unit.symbol,
        f"{description}; mean {format_six_digits(cloud.mean)} {y.unit.symbol}".rstrip(),
        scatter.template,
        ("x", "y", "mean", "edge"),
        rows,
        x_label=add_unit(x.name, x.unit.symbol),
        y_label=add_unit(y.name, y.unit.symbol),
        shows=(y.id, x.id),
    )


def build_clouds(context: RenderContext, scatter: Scatter, shown_run: ShownRun) -> Iterator[Cloud]:
    """Yield the points of a run for each value of the scatter's column, in the order of its label columns."""
    point_request, name_request = block_rows.request_block_rows(context.checked, scatter)
    x, y = context.checked.get_metric(scatter.x), context.checked.get_metric(scatter.y)
    row_by_group = {row[scatter.per]: row for row in block_rows.get_rows(shown_run.run, name_request)}
    groups: dict[object, list[Point]] = {}
    for row in block_rows.get_rows(shown_run.run, point_request):
        pair = context.compute_metric(x, row), context.compute_metric(y, row)
        if pair[0] is not None and pair[1] is not None:
            groups.setdefault(row[scatter.per], []).append((pair[0], pair[1]))
    key_counts: dict[tuple[object, ...], int] = {}
    for group in sorted(
        groups, key=lambda group: tuple(get_sort_key(row_by_group[group][name]) for name in scatter.label)
    ):
        description = ", ".join(f"{name.replace('_', ' ')} {row_by_group[group][name]}" for name in scatter.label)
        keys = tuple(row_by_group[group][name] for name in scatter.keys)
        key_counts[keys] = key_counts.get(keys, 0) + 1
        yield Cloud(description, (*keys, key_counts[keys]), groups[group])


def frame_points(point_groups: Sequence[Sequence[Point]]) -> tuple[Point, ...]:
    """Return two points that make the axes of several figures the same."""
    xs = [x for points in point_groups for x, _ in points]
    ys = [y for points in point_groups for _, y in points]
    return ((min(xs), min(ys)), (max(xs), max(ys)))


def thin_points(points: Sequence[Point], grid: tuple[int, int]) -> list[Point]:
    """Return the first point in each cell of a grid, in order of x, then y."""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    left, low = min(xs), min(ys)
    width, height = max(xs) - left or 1.0, max(ys) - low or 1.0
    point_by_cell: dict[tuple[int, int], Point] = {}
    for x, y in sorted(points):
        point_by_cell.setdefault((int((x - left) / width * grid[0]), int((y - low) / height * grid[1])), (x, y))
    return list(point_by_cell.values())
