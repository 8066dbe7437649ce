"""Format a traced cell as text and as data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.app.explain_view import FIGURES, constants_data, sample_data, sample_lines
from assay.app.subject import Subject
from assay.app.trace import Traced
from assay.app.trace_runs import Group
from assay.app.trace_values import TracedRun
from assay.explain.terminal import bars, headed, number, one_line, wrapped
from assay.lineage.cells import Cell
from assay.report import cell_links
from assay.styles.registry import style
from assay.util.escape import escape_text

GROUPS = 12  # distributions listed
HOW = {
    cell_links.AVERAGE: "the average of all samples",
    cell_links.DIFFERENCE: "the difference of two averages",
    cell_links.PERCENT: "the difference of two averages, in percent of the first",
    cell_links.SIZE: "the number of samples",
    cell_links.ROW: "the value of one row",
    cell_links.COLUMN: "what stands in a column of one row",
    cell_links.CHANGE: "how much the value of a row differs from that of the baseline's, in percent of it",
    cell_links.SHARE: "the share of the first value in the second, in percent",
    cell_links.SHORT: "whether the first value falls short of the second",
    cell_links.JUDGED: "what comes of these values by the rule of the table",
    cell_links.FORMULA: "what a formula over these values comes to",
    cell_links.MEAN: "the mean over time of the mean of all lines",
    cell_links.LINES: "the number of lines",
}


def listing(cells: Sequence[Cell]) -> list[str]:
    """Return a line for each cell: its full name, for copying, and its text."""
    return [escape_text(f"{item.name}: {item.text}") for item in cells]


def listing_data(cells: Sequence[Cell]) -> list[dict[str, object]]:
    """Return the cells as plain data."""
    return [{"cell": item.name, "text": item.text, "metric": item.of[0].entry if item.of else None} for item in cells]


def as_text(traced: Traced, width: int, encoding: str) -> str:
    """Format the trace of a cell."""
    lines = [*wrapped(f"{traced.cell.name}: {traced.cell.text}", width, "", "  ")]
    lines += headed("Report", [traced.report], width)
    lines += headed(traced.item.kind.capitalize(), [traced.item.label], width)
    if traced.definition:
        lines += headed("", [f"definition {traced.definition}"], max(width, 90))
    lines += headed("Prints", [_prints(traced)], width)
    lines += headed("Means", [traced.means] if traced.means else [], width)
    if traced.filtered:
        lines += headed("Filters", [", ".join(traced.filters) or "none"], width)
    last_item = traced.item
    for run in traced.runs:
        lines += ["", *_run(run, width, encoding, shows_item=run.item != last_item)]
        last_item = run.item
    return "\n".join(lines)


def _prints(traced: Traced) -> str:
    content, item = traced.cell.prints, traced.item
    text = HOW[content]
    if content in (cell_links.AVERAGE, cell_links.DIFFERENCE, cell_links.PERCENT) and item.formula_text:
        text = text.replace("two averages", "two values of a formula")
        text = "what a formula over averages comes to" if content == cell_links.AVERAGE else text
    elif content == cell_links.PERCENT and not item.metrics:
        text = text.replace("averages", "means")
    if content in (cell_links.DIFFERENCE, cell_links.PERCENT):
        text += ", both as they are printed" if style(traced.style).follows_from_print else ""
    if content in (cell_links.AVERAGE, cell_links.DIFFERENCE, cell_links.PERCENT) and item.groups_by:
        text += f", one distribution for each {item.groups_by}, by summary {traced.summary}"
    return text


def _run(run: TracedRun, width: int, encoding: str, *, shows_item: bool) -> Iterator[str]:
    """Format the value in a run; with `shows_item`, also its metric or series, as it differs from the one above."""
    item, symbol, size = run.item, run.item.unit.symbol, run.figures["size"]
    if shows_item:
        yield from headed("Of" if item.metrics else item.kind.capitalize(), [item.label], width)
    yield from headed("Run", [f"{run.label} ({run.id}), {run.place}"], width)
    noun = item.noun
    if not run.row:
        figure_texts = [f"{name} {_number(run.figures[name])}" for name in FIGURES if size and name in run.figures]
        figures = f": {', '.join(figure_texts)}" + (f" (in {symbol})" if symbol else "") if figure_texts else ""
        yield from headed(noun.capitalize(), [f"{size}{figures}"], width)
    if run.groups:
        yield from headed(item.groups_by.capitalize(), [_groups(run.groups)], width)
    if run.spread:
        drawn = bars(run.spread.counts, encoding)
        yield one_line(f"           {number(run.spread.low)} |{drawn}| {number(run.spread.high)}", width)
    constants = [
        f"{constant.name} {constant.text}: {constant.doc} ({constant.description})" for constant in run.made.constants
    ]
    yield from headed("Constants", constants, width)
    heads = (("Row", run.greatest),) if run.row else (("Greatest", run.greatest), ("Least", run.least))
    for head, samples in heads:
        yield f"{head} of {size} {noun}" if head != "Row" else f"Row, of {size}"
        for place, sample in enumerate(samples, start=1):
            yield from sample_lines(f"{place}. ", sample, symbol, width)
        if not samples:
            yield "   no such row, or no value on it" if run.row else f"   there are no {noun}"


def _number(value: object) -> str:
    return "none" if value is None else number(value)


def _groups(groups: Sequence[Group]) -> str:
    """List the means of the first distributions, and the number of the rest."""
    listed = ", ".join(f"{item.of} {number(item.mean)} ({item.size})" for item in groups[:GROUPS])
    return "mean (samples): " + listed + (f" and {len(groups) - GROUPS} more" if len(groups) > GROUPS else "")


def as_data(traced: Traced) -> dict[str, object]:
    """Return the trace of a cell as plain data."""
    return {
        "cell": traced.cell.name,
        "text": traced.cell.text,
        "prints": traced.cell.prints,
        "means": traced.means,
        "report": traced.report,
        **_item_data(traced.item, traced.definition),
        "summary": traced.summary,
        "filters": list(traced.filters),
        "runs": [_run_data(run) for run in traced.runs],
    }


def _item_data(item: Subject, definition: str) -> dict[str, object]:
    """Return a metric, series or column as plain data; only metrics have a definition hash."""
    return {item.kind: item.id, "name": item.title, "unit": item.unit.symbol, "definition": definition}


def _run_data(run: TracedRun) -> dict[str, object]:
    spread = run.spread and {"low": run.spread.low, "high": run.spread.high, "counts": list(run.spread.counts)}
    return {
        "id": run.id,
        "label": run.label,
        "place": run.place,
        **_item_data(run.item, run.definition),
        **run.figures,
        "groups": [{"of": item.of, "size": item.size, "mean": item.mean} for item in run.groups],
        "spread": spread,
        "greatest": [sample_data(item) for item in run.greatest],
        "least": [sample_data(item) for item in run.least],
        "constants": constants_data(run.made),
    }
