"""Render charts in parts: distributions of metrics, a line for each run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from assay.lang.blocks.chart import Chart
from assay.lang.model.report import Chart as ChartSpec
from assay.report.blocks.context import RenderContext, RenderedBlocks, register_renderer
from assay.report.distributions import NOTE, build_charts
from assay.report.row_units import choose_report_units
from assay.report.run_results import label_runs
from assay.report.sections import SectionContext


@register_renderer(Chart)
def render(context: RenderContext, items: Sequence[ChartSpec]) -> RenderedBlocks:
    """Render a chart of all runs for each item; of one that is split, a chart of each run.

    Lines have the labels of runs in the table of parameters, whose order is that of colours.
    """
    checked, report, choices = context.checked, context.report, context.choices
    runs = [item.run for item in context.runs]
    units = choose_report_units(checked, report, [version.figures for version in context.versions], choices.summary)
    section_context = SectionContext(checked, report, context.versions, choices, None, units)
    charts = build_charts(section_context, items, dict(zip(label_runs(report, runs), runs, strict=True)))
    numbered = tuple(replace(chart, figure=next(context.figure_numbers)) for chart in charts)
    return RenderedBlocks(plots=numbered, notes=(NOTE,))
