"""Build the table of run parameters of a report: the rows of its manifest, or the constants of its runs."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from assay.lang.blocks.facts import Facts
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.report import Report
from assay.report.cell_links import COLUMN, FACT, CellLink, CellSource, link_facts
from assay.report.glossary import SINCE, UNTIL, get_constant_id, get_row_id
from assay.report.run_results import (
    OWN_NAME,
    Choices,
    RunFigures,
    add_unit,
    are_renamed,
    format_constant,
    format_run_parameter,
    list_own_names,
    list_phase_rows,
)
from assay.report.tables import Table
from assay.util.escape import shorten

TITLE = "Overall run parameters"


def build_parameters_table(
    report: Report, runs: Sequence[RunFigures], run_labels: Sequence[str], choices: Choices
) -> Table:
    """Return the rows of the manifest, and the bounds of phases, with a column for each run or phase.

    If the user calls a run otherwise than it calls itself, a row has the label constants, unless the manifest has them.
    """
    phases = list_phase_rows(runs)
    is_renamed = are_renamed(report, runs)
    are_own_names = [row.constant == report.label != "" for row in report.manifest]
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


def build_constants_table(
    checked: CheckedPackage,
    report: Report,
    columns: Sequence[RunFigures],
    run_labels: Sequence[str],
    source_names: Collection[str],
) -> Table:
    """Return the table of run parameters: constants of each run or phase, and the bounds of each phase.

    Constants are those of the sources that the report reads, or of all if `source_names` is empty.

    Leave out constants that blocks of facts show, those that no run has, and the label constant unless the user calls
    a run otherwise.
    """
    is_renamed = are_renamed(report, columns)
    constants = {
        item.name: item
        for source in checked.package.sources
        for item in source.constants
        if source.name in source_names or not source_names or item.name == report.label
    }
    omitted_constants = {name for part in report.parts for item in part.select(Facts) for name in item.constants}
    omitted_constants |= set() if is_renamed else {report.label}
    rows_by_constant = {
        name: (
            OWN_NAME if name == report.label else add_unit(item.doc, item.unit.symbol),
            *(format_constant(item, run.constants[name]) for run in columns),
        )
        for name, item in constants.items()
        if item.type in ("integer", "real", "text", "boolean")
        and name not in omitted_constants
        and any(run.constants[name] not in ("", None) for run in columns)
    }
    phases = list_phase_rows(columns)
    entry_ids = (*map(get_constant_id, rows_by_constant), *((SINCE, UNTIL) if phases else ()))
    links = tuple(link_facts(entry_ids, [run.id for run in columns]))
    return Table(
        "Phases" if phases else "Runs",
        ("", *run_labels),
        (*rows_by_constant.values(), *phases),
        of_rows=entry_ids,
        leads=links,
    )
