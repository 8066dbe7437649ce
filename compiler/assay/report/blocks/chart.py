"""Render charts: distributions of metrics, a line for each run or phase."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from assay.lang.blocks.chart import Chart
from assay.report.blocks.context import RenderContext, RenderedBlocks, register_renderer
from assay.report.blocks.section import create_section_context
from assay.report.distributions import REPEATS, build_charts, describe_charts
from assay.report.run_results import RunFigures, label_runs


@register_renderer(Chart)
def render(context: RenderContext, items: Sequence[Chart]) -> RenderedBlocks:
    """Render a chart of all runs or phases for each item; of one that is split, a chart of each of them.

    Lines have the labels of runs in the table of parameters, whose order is that of colours.
    """
    charts = build_charts(create_section_context(context, context.versions), items, _label_lines(context))
    numbered = tuple(replace(chart, figure=next(context.figure_numbers)) for chart in charts)
    has_repeats = any(line.version for chart in charts for line in chart.series)
    note = describe_charts(numbered)
    return RenderedBlocks(plots=numbered, notes=(f"{note} {REPEATS}" if has_repeats else note,))


def _label_lines(context: RenderContext) -> Mapping[str, RunFigures]:
    phases = [version.figures for version in context.versions if version.figures.phase]
    lines = phases or [item.run for item in context.runs]
    return dict(zip(label_runs(context.report, lines), lines, strict=True))
