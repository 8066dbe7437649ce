"""Draw the history of a metric as SVG, in the colours of the page that contains it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

from assay.app.audit.site_templates import get_site_folder
from assay.app.compare.metric_history import HistoryTexts
from assay.judgement.verdict import Verdict
from assay.number_styles.prefixed import format_percent
from assay.registry.history import MetricHistory, Shift
from assay.report.charts.render import Drawer

COLORS = {Verdict.WORSE: "var(--worse)", Verdict.BETTER: "var(--better)"}
MOST_LABELS = 30
SPARK_WIDTH, SPARK_HEIGHT, SPARK_POINTS = 120, 24, 60


def _choose_color(shift: Shift) -> str:
    """Return the colour of a level shift: that of its verdict, unless it is accepted."""
    return "var(--muted)" if shift.acceptance else COLORS.get(shift.verdict, "var(--ink)")


def draw_history(item: MetricHistory, texts: HistoryTexts, fonts: Path) -> str:
    """Return the chart of a history: a point for each run, its levels and level shifts. Raises AssayError.

    Runs whose value means something else are hollow, and outside of the line.
    """
    return Drawer(fonts).draw(json.dumps(build_history_spec(item, texts)), f"the history of {item.metric}")


def draw_sparkline(item: MetricHistory) -> str:
    """Return a small line of the comparable values as SVG, with a bar at each level shift, coloured by its verdict.

    Of more than `SPARK_POINTS` values, neighbours are averaged.
    """
    comparable = [
        (x, point.value)
        for x, point in enumerate(item.points)
        if point.value is not None and math.isfinite(point.value) and not point.differences
    ]
    if not comparable:
        return ""
    count = math.ceil(len(comparable) / SPARK_POINTS)
    groups = [comparable[start : start + count] for start in range(0, len(comparable), count)]
    points = [(fmean(x for x, _ in group), fmean(value for _, value in group)) for group in groups]
    values = [value for _, value in points]
    low, high = min(values), max(values)
    step = SPARK_WIDTH / max(len(item.points) - 1, 1)

    def place(x: float, value: float) -> str:
        height = (value - low) / (high - low) if high > low else 0.5
        return f"{x * step:.1f},{SPARK_HEIGHT * (1 - height):.1f}"

    positions = {point.results.id: x for x, point in enumerate(item.points)}
    bars = "".join(
        f'<path d="M{(positions[shift.point.results.id] - 0.5) * step:.1f},0V{SPARK_HEIGHT}" '
        f'stroke="{_choose_color(shift)}"/>'
        for shift in item.shifts
    )
    places = [place(x, value) for x, value in points]
    last_x, last_y = places[-1].split(",")
    return (
        f'<svg class="spark" viewBox="-3 -3 {SPARK_WIDTH + 6} {SPARK_HEIGHT + 6}" aria-hidden="true">{bars}'
        f'<polyline points="{" ".join(places)}"/><circle cx="{last_x}" cy="{last_y}" r="2.5"/></svg>'
    )


def build_history_spec(item: MetricHistory, texts: HistoryTexts) -> dict[str, Any]:
    """Return the specification of the chart; a run's x is its position in the history."""
    spec: dict[str, Any] = json.loads((get_site_folder() / "history.vl.json").read_text(encoding="utf-8"))
    points = [
        {"x": x, "y": point.value * texts.factor, "comparable": not point.differences}
        for x, point in enumerate(item.points)
        if point.value is not None
    ]
    positions = {point.results.id: x for x, point in enumerate(item.points)}
    shifts = [
        {"x": positions[shift.point.results.id] - 0.5, "color": _choose_color(shift),
         "text": f"{format_percent(shift.before, shift.after)} %" if shift.percent is not None else ""}
        for shift in item.shifts
    ]  # fmt: skip
    levels = [{"x": start, "x2": end, "y": average * texts.factor} for start, end, average in _list_levels(item)]
    spec["datasets"] = {"points": points, "levels": levels, "shifts": shifts}
    spec["params"][0]["value"] = [point.run for point in item.points]
    step = math.ceil(len(item.points) / MOST_LABELS)
    spec["encoding"]["x"]["axis"]["values"] = list(range((len(item.points) - 1) % step, len(item.points), step))
    spec["encoding"]["y"]["title"] = texts.unit or None
    return spec


def _list_levels(item: MetricHistory) -> Iterator[tuple[int, int, float]]:
    """Yield the first and last position and the average of each level; none without a shift."""
    if not item.shifts:
        return
    positions = {point.results.id: x for x, point in enumerate(item.points)}
    starts = [positions[shift.point.results.id] for shift in item.shifts]
    averages = [item.shifts[0].before, *(shift.after for shift in item.shifts)]
    for (start, end), average in zip(pairwise([0, *starts, len(item.points)]), averages, strict=True):
        if end > start:
            yield start, end - 1, average
