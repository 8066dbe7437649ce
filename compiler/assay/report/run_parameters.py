"""Build the table of run parameters of a comparison."""

from __future__ import annotations

from collections.abc import Sequence

from assay.lang.model.report import Report
from assay.report.cell_links import COLUMN, FACT, CellLink, CellSource
from assay.report.document import Table
from assay.report.glossary import SINCE, UNTIL, get_constant_id, get_row_id
from assay.report.run_results import (
    OWN_NAME,
    Choices,
    RunFigures,
    are_renamed,
    format_run_parameter,
    list_own_names,
    list_phase_rows,
)
from assay.util.escape import shorten

TITLE = "Overall run parameters"


def build_parameters_table(
    report: Report, runs: Sequence[RunFigures], run_labels: Sequence[str], choices: Choices
) -> Table:
    """Return the rows of the manifest, and the bounds of phases, with a column for each run or phase.

    If the user calls a run otherwise than it calls itself, a row has the label constants, unless the manifest has them.
    """
    phases = list_phase_rows(runs)
    is_renamed = are_renamed(report.label, runs)
    are_own_names = [row.constant == report.label for row in report.manifest]
    if len(runs) == 1 and all(are_own_names) and not phases and not is_renamed:
        return Table(TITLE, ("", *run_labels), ())  # the title has the only parameter
    rows = [
        (get_row_id(row), COLUMN if row.relation else FACT,
         (row.label, *(format_run_parameter(row, run, choices) for run in runs)))
        for row in report.manifest
    ]  # fmt: skip
    if is_renamed and not any(are_own_names):
        own_names = map(shorten, list_own_names(report.label, runs))
        rows.insert(0, (get_constant_id(report.label), FACT, (OWN_NAME, *own_names)))
    rows += [(entry, FACT, cells) for entry, cells in zip((SINCE, UNTIL), phases, strict=False)]
    links = tuple(
        CellLink(y, x, kind, (CellSource(entry, run.id),))
        for y, (entry, kind, _) in enumerate(rows)
        for x, run in enumerate(runs, start=1)
    )
    entries = tuple(entry for entry, _, _ in rows)
    return Table(TITLE, ("", *run_labels), tuple(cells for _, _, cells in rows), of_rows=entries, leads=links)
