"""Format a traced cell as text and as data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.app.audit.explain_view import FIGURES, export_constants, export_sample, format_sample
from assay.app.audit.trace import TracedCell, TracedCount
from assay.app.audit.trace_judgement import TracedJudgement
from assay.app.audit.trace_runs import Group
from assay.app.audit.trace_values import TracedRun
from assay.app.compute.subject import Subject
from assay.explain.terminal import format_bars, format_number, format_with_heading, truncate_line, wrap_text
from assay.number_styles.registry import get_style
from assay.report import cell_links, series_statistic
from assay.report.printed_cells import Cell
from assay.report.statistic_names import MEDIAN, PERCENTILES
from assay.util.escape import escape_text

GROUPS = 12  # distributions listed
CHANGES = (cell_links.DIFFERENCE, cell_links.PERCENT, cell_links.INTERVAL, cell_links.VERDICT)
CONTENT_TEXTS = {
    cell_links.AVERAGE: "the average of all samples",
    cell_links.DIFFERENCE: "the difference of two averages",
    cell_links.PERCENT: "the difference of two averages, in percent of the first",
    cell_links.INTERVAL: "the interval of the difference of two averages, in percent of the first",
    cell_links.VERDICT: "the verdict on the difference of two averages",
    cell_links.SIZE: "the number of samples",
    cell_links.ROW: "the value of one row",
    cell_links.COLUMN: "a column of one row",
    cell_links.REPEATS: "the mean of the values of these rows",
    cell_links.CHANGE: "the difference of the value of a row from that of the baseline, in percent of the latter",
    cell_links.SHARE: "the first value in percent of the second",
    cell_links.SHORT: "whether the first value is less than the second",
    cell_links.JUDGED: "the verdict on these values by the rule of the table",
    cell_links.FORMULA: "the value of a formula over these values",
    cell_links.MEAN: "the mean over time of the mean of all lines",
    cell_links.LINES: "the number of lines",
    cell_links.COUNT: "the number of metrics with such a verdict, of those that are better in a direction",
}


def format_listing(cells: Sequence[Cell]) -> list[str]:
    """Return a line for each cell: its full name, for copying, and its text."""
    return [escape_text(f"{item.name}: {item.text}") for item in cells]


def export_listing(cells: Sequence[Cell]) -> list[dict[str, object]]:
    """Return the cells as plain data."""
    return [
        {"cell": item.name, "text": item.text, "metric": item.sources[0].entry if item.sources else None}
        for item in cells
    ]


def format_trace(traced_cell: TracedCell | TracedCount, width: int, encoding: str) -> str:
    """Format the trace of a cell."""
    if isinstance(traced_cell, TracedCount):
        return "\n".join(_format_count(traced_cell, width))
    lines = [*wrap_text(f"{traced_cell.cell.name}: {traced_cell.cell.text}", width, "", "  ")]
    lines += format_with_heading("Report", [traced_cell.report], width)
    lines += format_with_heading(traced_cell.item.kind.capitalize(), [traced_cell.item.label], width)
    if traced_cell.definition:
        lines += format_with_heading("", [f"definition {traced_cell.definition}"], max(width, 90))
    lines += format_with_heading("Prints", [_describe_content(traced_cell)], width)
    lines += format_with_heading("Means", [traced_cell.formula_text] if traced_cell.formula_text else [], width)
    if traced_cell.is_filtered:
        lines += format_with_heading("Filters", [", ".join(traced_cell.filters) or "none"], width)
    lines += _format_judgement(traced_cell.judgement, width) if traced_cell.judgement else []
    last_item = traced_cell.item
    for run in traced_cell.runs:
        lines += ["", *_format_run(run, width, encoding, shows_item=run.item != last_item)]
        last_item = run.item
    return "\n".join(lines)


def _format_count(traced_count: TracedCount, width: int) -> Iterator[str]:
    """Format a number of metrics: a line for each cell that it counts, whose name can be traced."""
    yield from wrap_text(f"{traced_count.cell.name}: {traced_count.cell.text}", width, "", "  ")
    yield from format_with_heading("Report", [traced_count.report], width)
    yield from format_with_heading("Prints", [CONTENT_TEXTS[traced_count.cell.prints]], width)
    if traced_count.counted:
        yield from ("", "Cells", *format_listing(traced_count.counted))


def _format_judgement(judgement: TracedJudgement, width: int) -> list[str]:
    """Format what an interval or verdict rests on: its evidence, the least and greatest batch of each run, the SQL."""
    lines = [*format_with_heading("Judgement", judgement.sentences, width)]
    for run, batches in judgement.batches.items():
        means = [item.mean for item in batches]
        least, greatest = min(means), max(means)
        text = (
            f"{run}: {len(batches)}, means from {format_number(least)} (batch {means.index(least) + 1}) "
            f"to {format_number(greatest)} (batch {means.index(greatest) + 1})"
        )
        lines += format_with_heading("Batches" if run == next(iter(judgement.batches)) else "", [text], width)
    return [*lines, *format_with_heading("SQL", [judgement.file] if judgement.file else [], width)]


def _describe_content(traced_cell: TracedCell) -> str:
    content, item = traced_cell.cell.prints, traced_cell.item
    statistic = traced_cell.cell.sources[0].statistic
    if content == cell_links.STATISTIC and item.series:
        return _describe_series_statistic(statistic)
    text = CONTENT_TEXTS[cell_links.AVERAGE if content == cell_links.STATISTIC else content]
    if statistic:
        text = text.replace("the average", f"the {statistic}").replace("two averages", f"two values of {statistic}")
        if item.groups_by and statistic in (MEDIAN, *PERCENTILES):
            text = text.replace("of all samples", f"of each {item.groups_by}'s samples, and the median of these")
    if content in (cell_links.AVERAGE, cell_links.DIFFERENCE, cell_links.PERCENT) and item.formula_text:
        text = text.replace("two averages", "two values of a formula")
        text = "the value of a formula over averages" if content == cell_links.AVERAGE else text
    elif content == cell_links.PERCENT and not item.metrics:
        text = text.replace("averages", "means")
    if content == cell_links.AVERAGE and len(traced_cell.cell.sources) > 1:
        text = f"the mean over runs of {text}"
    elif content in CHANGES and len(traced_cell.cell.sources) > 2:
        text += ", which are means over runs"
    if content in (cell_links.DIFFERENCE, cell_links.PERCENT):
        text += ", both as printed" if get_style(traced_cell.style).follows_from_print else ""
    is_average = content in (cell_links.AVERAGE, cell_links.DIFFERENCE, cell_links.PERCENT) and not statistic
    if is_average and item.groups_by:
        text += f", one distribution for each {item.groups_by}, by summary {traced_cell.summary}"
    return text


def _describe_series_statistic(statistic: str) -> str:
    if statistic == series_statistic.MEAN:
        return CONTENT_TEXTS[cell_links.MEAN]
    return f"the {statistic} of all values{', in percent' if _is_share(statistic) else ''}"


def _is_share(statistic: str) -> bool:
    parsed_statistic = series_statistic.parse_statistic(statistic)
    return parsed_statistic is not None and parsed_statistic.is_share


def _format_run(run: TracedRun, width: int, encoding: str, *, shows_item: bool) -> Iterator[str]:
    """Format the value in a run; with `shows_item`, also its metric or series, as it differs from the one above."""
    item, symbol, size = run.item, run.item.unit.symbol, run.figures["size"]
    if shows_item:
        yield from format_with_heading("Of" if item.metrics else item.kind.capitalize(), [item.label], width)
    name = run.label if run.label == run.id else f"{run.label} ({run.id})"
    yield from format_with_heading("Run", [f"{name}, {run.place}"], width)
    noun = item.noun
    if not run.is_row:
        figure_texts = [
            f"{name} {_format_number(run.figures[name])}{' %' if _is_share(name) else ''}"
            for name in dict.fromkeys((*FIGURES, run.statistic))
            if size and name in run.figures
        ]
        figures = f": {', '.join(figure_texts)}" + (f" (in {symbol})" if symbol else "") if figure_texts else ""
        yield from format_with_heading(noun.capitalize(), [f"{size}{figures}"], width)
    if run.groups:
        yield from format_with_heading(item.groups_by.capitalize(), [_format_groups(run.groups)], width)
    if run.spread:
        histogram = format_bars(run.spread.counts, encoding)
        yield truncate_line(
            f"           {format_number(run.spread.low)} |{histogram}| {format_number(run.spread.high)}", width
        )
    constants = [
        f"{constant.name} {constant.text}: {constant.doc} ({constant.description})"
        for constant in run.constant_inputs.constants
    ]
    yield from format_with_heading("Constants", constants, width)
    heads = [("Row", run.greatest)] if run.is_row else [("Greatest", run.greatest), ("Least", run.least)]
    if run.equal:
        heads.insert(0, (f"At {run.statistic}", run.equal))
    for head, samples in heads:
        yield f"{head} of {size} {noun}" if head != "Row" else f"Row, of {size}"
        for place, sample in enumerate(samples, start=1):
            yield from format_sample(f"{place}. ", sample, symbol, width)
        if not samples:
            yield "   no such row, or no value on it" if run.is_row else f"   there are no {noun}"


def _format_number(value: object) -> str:
    return "none" if value is None else format_number(value)


def _format_groups(groups: Sequence[Group]) -> str:
    """List the means of the first distributions, and the number of the rest."""
    means_text = ", ".join(f"{item.key} {format_number(item.mean)} ({item.size})" for item in groups[:GROUPS])
    return "mean (samples): " + means_text + (f" and {len(groups) - GROUPS} more" if len(groups) > GROUPS else "")


def export_trace(traced_cell: TracedCell | TracedCount) -> dict[str, object]:
    """Return the trace of a cell as plain data."""
    if isinstance(traced_cell, TracedCount):
        return {
            "cell": traced_cell.cell.name,
            "text": traced_cell.cell.text,
            "prints": traced_cell.cell.prints,
            "report": traced_cell.report,
            "cells": export_listing(traced_cell.counted),
        }
    return {
        "cell": traced_cell.cell.name,
        "text": traced_cell.cell.text,
        "prints": traced_cell.cell.prints,
        "means": traced_cell.formula_text,
        "report": traced_cell.report,
        **_export_item(traced_cell.item, traced_cell.definition),
        "summary": traced_cell.summary,
        "filters": list(traced_cell.filters),
        "runs": [_export_run(run) for run in traced_cell.runs],
        **({"judgement": _export_judgement(traced_cell.judgement)} if traced_cell.judgement else {}),
    }


def _export_judgement(judgement: TracedJudgement) -> dict[str, object]:
    return {
        "change": dict(judgement.change),
        "file": judgement.file,
        "batches": {
            run: [{"size": item.size, "mean": item.mean} for item in batches]
            for run, batches in judgement.batches.items()
        },
    }


def _export_item(item: Subject, definition: str) -> dict[str, object]:
    """Return a metric, series or column as plain data; only metrics have a definition hash."""
    return {item.kind: item.id, "name": item.title, "unit": item.unit.symbol, "definition": definition}


def _export_run(run: TracedRun) -> dict[str, object]:
    spread = run.spread and {"low": run.spread.low, "high": run.spread.high, "counts": list(run.spread.counts)}
    return {
        "id": run.id,
        "label": run.label,
        "place": run.place,
        **_export_item(run.item, run.definition),
        **run.figures,
        "groups": [{"of": item.key, "size": item.size, "mean": item.mean} for item in run.groups],
        "spread": spread,
        **({"equal": [export_sample(item) for item in run.equal]} if run.equal else {}),
        "greatest": [export_sample(item) for item in run.greatest],
        "least": [export_sample(item) for item in run.least],
        "constants": export_constants(run.constant_inputs),
    }
