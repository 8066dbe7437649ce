"""A traced cell as text and as data."""

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

GROUPS = 12  # distributions whose means are shown
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


def listing(found: Sequence[Cell]) -> list[str]:
    """A line for each cell: its name and its text, whole, so that names can be taken from it."""
    return [escape_text(f"{item.name}: {item.text}") for item in found]


def listing_data(found: Sequence[Cell]) -> list[dict[str, object]]:
    """The cells as plain data."""
    return [{"cell": item.name, "text": item.text, "metric": item.of[0].entry if item.of else None} for item in found]


def as_text(found: Traced, width: int, encoding: str) -> str:
    """The trace of a cell."""
    lines = [*wrapped(f"{found.cell.name}: {found.cell.text}", width, "", "  ")]
    lines += headed("Report", [found.report], width)
    lines += headed(found.item.kind.capitalize(), [found.item.label], width)
    if found.definition:
        lines += headed("", [f"definition {found.definition}"], max(width, 90))
    lines += headed("Prints", [_prints(found)], width)
    lines += headed("Means", [found.means] if found.means else [], width)
    if found.filtered:
        lines += headed("Filters", [", ".join(found.filters) or "none"], width)
    told = found.item
    for run in found.runs:
        lines += ["", *_run(run, width, encoding, named=run.item != told)]
        told = run.item
    return "\n".join(lines)


def _prints(found: Traced) -> str:
    of, item = found.cell.prints, found.item
    text = HOW[of]
    if of in (cell_links.AVERAGE, cell_links.DIFFERENCE, cell_links.PERCENT) and item.formula_text:
        text = text.replace("two averages", "two values of a formula")
        text = "what a formula over averages comes to" if of == cell_links.AVERAGE else text
    elif of == cell_links.PERCENT and not item.metrics:
        text = text.replace("averages", "means")
    if of in (cell_links.DIFFERENCE, cell_links.PERCENT):
        text += ", both as they are printed" if style(found.style).follows_from_print else ""
    if of in (cell_links.AVERAGE, cell_links.DIFFERENCE, cell_links.PERCENT) and item.groups_by:
        text += f", one distribution for each {item.groups_by}, by summary {found.summary}"
    return text


def _run(run: TracedRun, width: int, encoding: str, *, named: bool) -> Iterator[str]:
    """What a run holds; of what, where that is another metric or series than is told above (`named`)."""
    item, symbol, size = run.item, run.item.unit.symbol, run.figures["size"]
    if named:
        yield from headed("Of" if item.metrics else item.kind.capitalize(), [item.label], width)
    yield from headed("Run", [f"{run.label} ({run.id}), {run.place}"], width)
    noun = item.noun
    if not run.row:
        told = [f"{name} {_number(run.figures[name])}" for name in FIGURES if size and name in run.figures]
        figures = f": {', '.join(told)}" + (f" (in {symbol})" if symbol else "") if told else ""
        yield from headed(noun.capitalize(), [f"{size}{figures}"], width)
    if run.groups:
        yield from headed(item.groups_by.capitalize(), [_groups(run.groups)], width)
    if run.spread:
        drawn = bars(run.spread.counts, encoding)
        yield one_line(f"           {number(run.spread.low)} |{drawn}| {number(run.spread.high)}", width)
    given = [f"{one.name} {one.text}: {one.doc} ({one.description})" for one in run.made.constants]
    yield from headed("Constants", given, width)
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
    """The means of distributions, some of them."""
    told = ", ".join(f"{item.of} {number(item.mean)} ({item.size})" for item in groups[:GROUPS])
    return "mean (samples): " + told + (f" and {len(groups) - GROUPS} more" if len(groups) > GROUPS else "")


def as_data(found: Traced) -> dict[str, object]:
    """The trace of a cell as plain data."""
    return {
        "cell": found.cell.name,
        "text": found.cell.text,
        "prints": found.cell.prints,
        "means": found.means,
        "report": found.report,
        **_item_data(found.item, found.definition),
        "summary": found.summary,
        "filters": list(found.filters),
        "runs": [_run_data(run) for run in found.runs],
    }


def _item_data(item: Subject, definition: str) -> dict[str, object]:
    """A metric, series or column as plain data; metrics alone have a definition hash."""
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
