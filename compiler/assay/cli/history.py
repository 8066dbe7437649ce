"""Define `assay history`: a metric over recorded runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from assay.app.compare.metric_history import describe_history, read_histories
from assay.app.session.selection import Selection
from assay.cli import output
from assay.cli.options import (
    add_cache_option,
    add_results_option,
    add_system_option,
    complete_names,
    open_command_session,
    pass_selection,
    require_results_folder,
)
from assay.cli.shifts import export_change
from assay.registry.history import Drift, HistoryScope, MetricHistory, Point, Shift
from assay.registry.model import RecordedResults, RegisteredRun
from assay.registry.tables import build_rows, find_centile, format_openmetrics

MEMBERS = ("run", "day", "tags", "commit", "value", "size", "median", "p95", "differs_in", "shift", "id")


@click.command()
@click.argument("metrics", nargs=-1, required=True, shell_complete=complete_names("metrics"))
@click.option("--tag", default="", metavar="TAG", help="Show only runs with this tag.")
@click.option("--last", type=click.IntRange(min=1), default=None, metavar="N", help="Show only the last N runs.")
@click.option("--format", "form", type=click.Choice(["text", "json", "csv", "openmetrics"]), default="text",
              help="Output format.")  # fmt: skip
@add_system_option
@add_results_option
@add_cache_option
@pass_selection
def history(tag: str, last: int | None, form: str, results: Path | None, selection: Selection) -> None:
    """Print a metric over recorded runs by day, with its level shifts. Reads no logs.

    A run whose value means something else is marked: by another definition, unit, summary or other filters.
    """
    folder = require_results_folder(results)
    with open_command_session() as session:
        histories = read_histories(
            session, folder, selection.metrics, HistoryScope(selection.system or "", tag, last or 0)
        )
    if form == "text":
        for number, item in enumerate(histories):
            for line in ([""] if number else []) + list(format_history(item)):
                output.print_line(line)
    elif form == "json":
        output.print_data([export_history(item) for item in histories])
    elif form == "csv":
        rows = [[_format_exact(value) for value in {"metric": item.metric, **row}.values()]
                for item in histories for row in export_history(item)["runs"]]  # fmt: skip
        output.print_rows(("metric", *MEMBERS), rows, form)
    else:
        output.print_text(_format_openmetrics(histories).removesuffix("\n"))


def _format_exact(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return " ".join(value)
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


def export_history(item: MetricHistory) -> dict[str, Any]:
    """Return a history as plain data; numbers are unrounded and in the unit of the metric."""
    shifts = {shift.point.results.id: shift for shift in item.shifts}
    return {
        "system": item.system,
        "metric": item.metric,
        "name": item.name,
        "unit": item.meaning.unit,
        "definition": item.meaning.definition,
        "summary": item.meaning.summary,
        "filters": list(item.meaning.filters),
        "runs": [_export_point(point, shifts.get(point.results.id)) for point in item.points],
        "level_shifts": [
            {**export_change(shift), "runs_before": shift.runs_before, "runs_since": shift.runs_since}
            for shift in item.shifts
        ],
        "drift": _export_drift(item.drift) if item.drift else None,
        "stands_out": [point.run for point in item.strays],
    }  # fmt: skip


def _export_drift(drift: Drift) -> dict[str, Any]:
    return {"first_run": drift.first.run, "last_run": drift.last.run, **export_change(drift)}


def _export_point(point: Point, shift: Shift | None) -> dict[str, Any]:

    figures = point.figures
    values = (point.run, point.day, list(point.tags), point.commit, point.value, figures.size,
              find_centile(figures, 0.5), find_centile(figures, 0.95), list(point.differences),
              shift.verdict.value if shift else None, point.results.id)  # fmt: skip
    return dict(zip(MEMBERS, values, strict=True))


def _format_openmetrics(histories: tuple[MetricHistory, ...]) -> str:
    """Return the runs of histories as OpenMetrics text: those whose values mean the same."""

    rows = []
    for item in histories:
        recorded: list[RecordedResults] = [point.results for point in item.points if not point.differences]
        runs = [RegisteredRun(point.results.path, point.results.name, (), point.tags, point.commit, point.day)
                for point in item.points]  # fmt: skip
        rows += [row for row in build_rows(recorded, runs) if row["metric"] == item.metric and row["group"] is None]
    return format_openmetrics(rows)


def format_history(item: MetricHistory) -> Iterator[str]:
    """Yield the lines of a history: a heading, a row for each run, sentences on level shifts."""

    texts = describe_history(item)
    yield f"{texts.title}; {texts.conditions}"
    yield ""
    yield from output.format_columns([texts.header, *texts.rows], right=(2, 3, 4))
    for line in texts.shifts or (texts.no_shift,):
        yield ""
        yield line
