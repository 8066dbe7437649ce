"""A traced cell as text and as data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.audit import cells
from assay.audit.cells import Cell
from assay.audit.screen import bars, headed, number, one_line, wrapped
from assay.build.explain_output import FIGURES, sample_data, sample_lines
from assay.build.trace import Traced, TracedRun
from assay.build.trace_run import Group
from assay.compare.style import style
from assay.spec.visible import visible

GROUPS = 12  # distributions whose means are shown
HOW = {
    cells.AVERAGE: "the average of all samples",
    cells.DELTAS: "the difference of two averages",
    cells.SIZE: "the number of samples",
    cells.ROW: "the value of one row",
}
ROWS = "what comes of the values of a row of each run"
PERCENT = "Δ%"


def listing(found: Sequence[Cell]) -> list[str]:
    """A line for each cell: its name and its text, whole, so that names can be taken from it."""
    return [visible(f"{item.name}: {item.text}") for item in found]


def listing_data(found: Sequence[Cell]) -> list[dict[str, object]]:
    """The cells as plain data."""
    return [{"cell": item.name, "text": item.text, "metric": item.metric or None} for item in found]


def as_text(found: Traced, width: int, encoding: str) -> str:
    """The trace of a cell."""
    metric, symbol = found.metric, found.metric.unit.symbol
    lines = [*wrapped(f"{found.cell.name}: {found.cell.text}", width, "", "  ")]
    lines += headed("Report", [found.report], width)
    lines += headed("Metric", [f"{metric.id}: {metric.name}" + (f", {symbol}" if symbol else "")], width)
    lines += headed("", [f"definition {found.definition}"], max(width, 90))
    lines += headed("Prints", [_prints(found)], width)
    if found.filtered:
        lines += headed("Filters", [", ".join(found.filters) or "none"], width)
    for run in found.runs:
        lines += ["", *_run(found, run, width, encoding)]
    return "\n".join(lines)


def _prints(found: Traced) -> str:
    cell = found.cell
    of = cell.prints
    text = ROWS if of == cells.ROW and len(cell.runs) > 1 else HOW[of]
    if of == cells.DELTAS:
        text += ", in percent of the first" if cell.column.endswith(PERCENT) else ""
        text += ", both as they are printed" if style(found.style).follows_from_print else ""
    if of in (cells.AVERAGE, cells.DELTAS) and found.metric.per:
        text += f", one distribution for each {found.metric.per}, by summary {found.summary}"
    return text


def _run(found: Traced, run: TracedRun, width: int, encoding: str) -> Iterator[str]:
    symbol = found.metric.unit.symbol
    size = run.figures["size"]
    yield from headed("Run", [f"{run.label} ({run.id}), {run.place}"], width)
    if found.cell.prints != cells.ROW:
        told = [f"{name} {number(run.figures[name])}" for name in FIGURES]
        yield from headed("Samples", [f"{size}: {', '.join(told)}" + (f" (in {symbol})" if symbol else "")], width)
    if run.groups:
        yield from headed(found.metric.per.capitalize(), [_groups(run.groups)], width)
    if run.spread:
        drawn = bars(run.spread.counts, encoding)
        yield one_line(f"           {number(run.spread.low)} |{drawn}| {number(run.spread.high)}", width)
    heads = ("Greatest", run.greatest), ("Least", run.least)
    for head, samples in heads if found.cell.prints != cells.ROW else (("Row", run.greatest),):
        yield f"{head} of {size} samples" if head != "Row" else f"Row, of {size}"
        for place, sample in enumerate(samples, start=1):
            yield from sample_lines(f"{place}. ", sample, symbol, width)
        if not samples:
            yield "   no such row"


def _groups(groups: Sequence[Group]) -> str:
    """The means of distributions, some of them."""
    told = ", ".join(f"{item.of} {number(item.mean)} ({item.size})" for item in groups[:GROUPS])
    return "mean (samples): " + told + (f" and {len(groups) - GROUPS} more" if len(groups) > GROUPS else "")


def as_data(found: Traced) -> dict[str, object]:
    """The trace of a cell as plain data."""
    return {
        "cell": found.cell.name,
        "text": found.cell.text,
        "prints": found.cell.prints,
        "report": found.report,
        "metric": found.metric.id,
        "name": found.metric.name,
        "unit": found.metric.unit.symbol,
        "definition": found.definition,
        "summary": found.summary,
        "filters": list(found.filters),
        "runs": [_run_data(run) for run in found.runs],
    }


def _run_data(run: TracedRun) -> dict[str, object]:
    spread = run.spread and {"low": run.spread.low, "high": run.spread.high, "counts": list(run.spread.counts)}
    return {
        "id": run.id,
        "label": run.label,
        "place": run.place,
        **run.figures,
        "groups": [{"of": item.of, "size": item.size, "mean": item.mean} for item in run.groups],
        "spread": spread,
        "greatest": [sample_data(item) for item in run.greatest],
        "least": [sample_data(item) for item in run.least],
    }
