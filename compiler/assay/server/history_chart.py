"""Draw the history of a metric as SVG, in the colours of the page that contains it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from assay.app.audit.site_templates import get_site_folder
from assay.app.compare.metric_history import HistoryTexts
from assay.judgement.verdict import Verdict
from assay.number_styles.prefixed import format_percent
from assay.registry.history import MetricHistory
from assay.report.charts.render import Drawer

COLORS = {Verdict.WORSE: "var(--worse)", Verdict.BETTER: "var(--better)"}
MOST_LABELS = 30


def draw_history(item: MetricHistory, texts: HistoryTexts, fonts: Path) -> str:
    """Return the chart of a history: a point for each run, its levels and level shifts. Raises AssayError.

    Runs whose value means something else are hollow, and outside of the line.
    """
    return Drawer(fonts).draw(json.dumps(build_history_spec(item, texts)), f"the history of {item.metric}")


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
        {"x": positions[shift.point.results.id] - 0.5, "color": COLORS.get(shift.verdict, "var(--ink)"),
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
