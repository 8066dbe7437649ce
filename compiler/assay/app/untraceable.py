"""Cells that lead to no records: why, and what leads on."""

from __future__ import annotations

from assay.app.trace_values import Built
from assay.lineage.cells import Cell
from assay.report.cell_links import FILTER, OUTCOME, WORDS
from assay.report.document import Document
from assay.util.diagnostics import USAGE, AssayError, fail

LIST = "--list lists the cells"


def nowhere(built: Built, document: Document, cell: Cell) -> AssayError:
    """Why a cell cannot be traced to records, and what to ask for instead."""
    name, entry = f"`{cell.name}`", cell.of[0].entry if cell.of else ""
    notes = tuple(" ".join(item.description.split("\n")) for item in document.entries if entry and item.id == entry)
    if cell.prints == OUTCOME:
        tables = " and ".join(f"`{title}`" for title in cell.decided_by)
        if not tables:
            return _fail(f"{name} judges nothing: {cell.text}", cell, LIST)
        return _fail(f"{name} comes of the cells of {tables}", cell, "trace these: their results and values")
    if cell.prints == WORDS:
        known = [item.name for item in built.checked.package.series if item.name == entry]
        hint = f"`assay explain {known[0]}` tells what it is read of" if known else "trace the values beside it"
        return _fail(f"{name} is words of the specs, not a value of a run", cell, hint)
    if cell.prints == FILTER:
        message = f"{name} is a number of rows that a filter was asked about, not a metric"
        return _fail(message, cell, "`assay explain METRIC` tells what each filter demands of its rows", notes)
    if not cell.of:
        return _fail(f"{name} prints no value: the run has no such row", cell, LIST)
    content = built.found.content
    run = next((item for item in content.runs if item.id == cell.of[0].run), content.runs[0])
    files = ", ".join(item.file for item in run.documents) or "its logs"
    message, found = f"{name} is a fact of run {run.id}, not a metric", f"{cell.text}, from {files}"
    return fail("not-a-metric", message, found=found, hint=LIST, notes=notes, status=USAGE)


def _fail(message: str, cell: Cell, hint: str, notes: tuple[str, ...] = ()) -> AssayError:
    return fail("not-traceable", message, found=cell.text, hint=hint, notes=notes, status=USAGE)
