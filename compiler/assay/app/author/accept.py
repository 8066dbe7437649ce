"""Write the normal form and the compiled SQL of a system (`assay check --accept`)."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from assay.app.author.golden_sql import MARK, Texts, lay_out_sql
from assay.app.compute.report_metrics import list_report_metrics
from assay.app.compute.report_request import list_report_rows
from assay.app.compute.sql_files import PHASES, render_statements, write_texts
from assay.app.session import filters
from assay.app.session.outputs import replace_folder
from assay.app.session.prose import read_prose
from assay.app.session.session import Session
from assay.engine.compiled_plan import compile_plan
from assay.lang import normal_form
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.report import Report
from assay.plan.request import Request
from assay.report.blocks.rows import list_shown_series
from assay.report.prose import Prose
from assay.util.diagnostics import Span, fail


def write_accepted_files(session: Session, checked: CheckedPackage, texts: Texts) -> None:
    """Write the golden SQL (`texts`) and the normal form, each atomically.

    The normal form is written last: if it matches the specs, the SQL does too.

    Raises AssayError: `accept` if a link leads out of the workspace; `output` if nothing can be written.
    """
    normal_form_path = session.workspace.get_normal_form_path(checked.package.system)
    sql = session.workspace.root / "golden" / "sql" / checked.package.system
    for path in (normal_form_path, sql):
        if not session.workspace.contains_path(path):
            raise fail("accept", "a link points outside the workspace", span=Span(str(path)))
    if texts:
        with _replace_entries(session, sql.parent) as folder:
            write_texts(folder / sql.name, texts)
    else:
        shutil.rmtree(sql, ignore_errors=True)
    with _replace_entries(session, normal_form_path.parent) as folder:
        (folder / normal_form_path.name).write_text(normal_form.format_normal_form(checked), encoding="utf-8")


@contextmanager
def _replace_entries(session: Session, parent_folder: Path) -> Iterator[Path]:
    """Yield a temporary folder whose entries replace those of `parent_folder`."""
    with replace_folder(
        parent_folder, session.get_wait_notice(parent_folder), hint="check that you may write into the workspace"
    ) as folder:
        yield folder


def compile_system_sql(session: Session, checked: CheckedPackage) -> Texts:
    """Return the golden SQL of a system, compiled for each report over runs: file name -> text."""
    reports: dict[str, Texts] = {}
    for report in checked.package.reports_over_runs:
        reports |= _compile_report_sql(checked, report, read_prose(session.workspace, checked, report).values())
    return lay_out_sql(reports)


def _compile_report_sql(checked: CheckedPackage, report: Report, prose: Iterable[Prose]) -> dict[str, Texts]:
    """Return the SQL of a report under its own filters, that of its phases apart."""
    prose = tuple(prose)
    applied_filters = filters.parse_filters(checked.package, report, (), False)
    relations = tuple(sorted({row.relation for row in report.manifest if row.relation}))
    of_runs = Request(rows=list_report_rows(checked, report, prose), series=list_shown_series(report, prose))
    of_phases = Request(list_report_metrics(checked, report), relations)
    if not report.phases:
        return {report.name: render_statements(compile_plan(checked, of_phases | of_runs, applied_filters).graph)}
    ends = {name for phase in report.phases for name in (phase.since, phase.until)}
    cuts = [cut for cut in checked.package.cuts if cut.name in ends]
    return {
        report.name: render_statements(compile_plan(checked, of_runs, cuts=cuts).graph),
        f"{report.name}{MARK}{PHASES}": render_statements(
            compile_plan(checked, of_phases, applied_filters, cut=True).graph
        ),
    }
