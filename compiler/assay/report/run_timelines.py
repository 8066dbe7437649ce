"""Build the part of a report with timelines: figures of series over time, with a line for each run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from assay.engine.point_rows import get_column
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.headings import add_unit_if_missing
from assay.lang.model.report import Report, RunTimeline
from assay.lang.model.series import Series
from assay.lang.series_wording import LINES, describe_series
from assay.report.blocks.rows import get_rows, get_series_span
from assay.report.blocks.timeline import (
    SECOND,
    Lines,
    break_at_gaps,
    choose_time_unit,
    describe_reduced_lines,
    describe_unclear_lines,
    find_last_step,
    frame_lines,
    get_step,
)
from assay.report.charts import line_strokes
from assay.report.charts.line_reduction import Line, count_points, reduce_lines
from assay.report.document import Document, Entry, Gallery, Group, Plot
from assay.report.run_results import RunFigures, label_runs
from assay.util.numbers import format_count

TITLE = "Over time"


def list_timeline_series(report: Report) -> tuple[str, ...]:
    """Return the series of the timelines of a report, each once."""
    return tuple(dict.fromkeys(item.series for item in report.timelines))


def add_timelines(document: Document, checked: CheckedPackage, report: Report, runs: Sequence[RunFigures]) -> Document:
    """Return the document of a report with a part of its timelines before other parts, if it has any."""
    if not report.timelines:
        return document
    gallery = _build_gallery(checked, report, runs, len(document.figures) + 1)
    entries = (_build_entry(checked, _find_series(checked, name)) for name in list_timeline_series(report))
    return replace(
        document,
        galleries=(gallery, *document.galleries),
        dictionary=(*document.dictionary, Group("Time series", tuple(entries))),
    )


def _build_gallery(checked: CheckedPackage, report: Report, runs: Sequence[RunFigures], first_figure: int) -> Gallery:
    """Return the part; its figures are numbered from `first_figure` on."""
    runs_by_label = dict(zip(label_runs(report, runs), runs, strict=True))
    plots: list[Plot] = []
    text = ["Times count from the beginning of each run."]
    for timeline in report.timelines:
        series = _find_series(checked, timeline.series)
        lines_by_run = {label: _collect_line(series, timeline, run) for label, run in runs_by_label.items()}
        if missing := [label for label, lines in lines_by_run.items() if not lines.has_points]:
            text.append(f"{timeline.title}: no values in {', '.join(missing)}.")
        drawn_lines = {label: lines for label, lines in lines_by_run.items() if lines.has_points}
        if drawn_lines:
            plots.append(_build_plot(series, timeline, drawn_lines, first_figure + len(plots)))
    text += [*describe_unclear_lines(plots), *describe_reduced_lines(plots)]
    return Gallery("timelines", TITLE, tuple(text), tuple(plots), ())


def _build_entry(checked: CheckedPackage, series: Series) -> Entry:
    description = f"{series.doc}. {describe_series(checked.package, series)}"
    return Entry(series.name, series.name, series.unit.symbol, description, "")


def _find_series(checked: CheckedPackage, name: str) -> Series:
    return next(item for item in checked.package.series if item.name == name)


def _collect_line(series: Series, timeline: RunTimeline, run: RunFigures) -> Lines:
    """Return the only line of a run, in seconds since its first window begins."""
    begin, end = get_series_span(run, series)
    step_ns = get_step(series, run)
    last_step = find_last_step(series, step_ns, (begin, end))
    rows = _reduce_rows(series, timeline, run)
    points = [((t_ns - begin) / SECOND, value) for t_ns, value in rows if t_ns <= last_step]
    line: Line = break_at_gaps(points, step_ns / SECOND)
    return Lines({"": line}, (end - begin) / SECOND, begin)


def _reduce_rows(series: Series, timeline: RunTimeline, run: RunFigures) -> Iterator[tuple[int, float]]:
    """Yield each instant with the reduction of its finite values, in order of time."""
    rows = get_rows(run, series)
    values_by_instant: dict[int, list[float]] = {}
    for t_ns, value in zip(get_column(rows, "t_ns"), get_column(rows, "value"), strict=True):
        if math.isfinite(value):
            values_by_instant.setdefault(t_ns, []).append(value)
    for t_ns, values in sorted(values_by_instant.items()):
        yield t_ns, _reduce_values(timeline.over, values)


def _reduce_values(over: str, values: Iterable[float]) -> float:
    """Return one value for those of several lines; without a reduction there is one."""
    items = list(values)
    if over in ("least", "greatest"):
        return min(items) if over == "least" else max(items)
    total = math.fsum(items)
    return total / len(items) if over == "mean" else total


def _build_plot(series: Series, timeline: RunTimeline, lines_by_run: Mapping[str, Lines], figure: int) -> Plot:
    """Return the figure of the lines of runs, all on one axis."""
    lines = {label: lines.lines[""] for label, lines in lines_by_run.items()}
    drawn_lines = reduce_lines(lines)
    edges = frame_lines(list(lines_by_run.values()), is_stacked=False)
    time_unit, seconds = choose_time_unit(edges[1][0])
    points = [(label, x / seconds, y) for label, line in drawn_lines.items() for x, y in line]
    count = count_points(lines)
    symbol = series.unit.symbol
    return Plot(
        "-".join(filter(None, ("timeline", timeline.series, timeline.over))),
        figure,
        add_unit_if_missing(timeline.title, symbol),
        symbol,
        f"{timeline.title} over time, {LINES[timeline.over]}{timeline.series}: {format_count(len(lines), 'run')}, "
        f"{format_count(count, 'point')}",
        timeline.template,
        ("line", "x", "y"),
        (*points, *((None, x / seconds, y) for x, y in edges)),
        tuple(lines),
        x_label=f"time, {time_unit}",
        y_label=add_unit_if_missing(timeline.title, symbol),
        shows=(series.name,),
        named=line_strokes.choose_named_lines(lines),
        reduced_from=count if drawn_lines is not lines else 0,
    )
