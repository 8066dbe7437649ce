"""Check the SQL of a system on empty tables, its reports and its prose."""

from __future__ import annotations

from collections.abc import Iterator

from assay.app.author.check_memory import CheckOutcome, SqlMemory
from assay.app.build.report_check import iter_report_problems
from assay.app.compute.report_metrics import list_report_metrics
from assay.app.session.prose import read_prose
from assay.app.session.session import Session
from assay.engine.compiled_plan import compile_plan
from assay.engine.dry_run import DryRun
from assay.lang import workspace
from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import index_metrics, list_measured
from assay.lang.model.package import Package
from assay.plan.planner import AppliedFilter
from assay.plan.request import Request
from assay.util.diagnostics import AssayError, Diagnostic, raise_all


def check_package(session: Session, checked: CheckedPackage, passed: SqlMemory) -> tuple[CheckOutcome, SqlMemory]:
    """Check a package; return its outcome, and the statements that passed.

    `passed` has the statements that passed before. Raises AssayError with every problem.
    """
    package = checked.package
    applied_filters = [AppliedFilter(item, "1" if item.parameter else None) for item in package.filters]
    request = Request(
        package.metrics,
        tuple(item.name for item in package.relations),
        series=tuple(item.name for item in package.series),
    )
    graph = compile_plan(checked, request, applied_filters, package.cuts).graph
    constants = [item for source in package.sources for item in source.constants]
    with DryRun(constants, passed) as dry_run:
        problems = [
            *dry_run.run(graph),
            *iter_report_problems(
                package, session.get_templates(), workspace.get_positions(session.workspace, package.system)
            ),
        ]
        problems += dict.fromkeys(_iter_prose_problems(session, checked))
        if not problems and can_be_split(package):
            plan = compile_plan(checked, request, applied_filters, cut=True)
            problems += dry_run.run(plan.graph)
    raise_all(problems)
    kinds = ("sources", "events", "relations", "grains", "metrics", "filters", "summaries", "reports")
    optional_kinds = ("series", "examples")  # counted only if a system has any
    counts = {kind: len(getattr(package, kind)) for kind in (*kinds, *optional_kinds)}
    counts = {kind: number for kind, number in counts.items() if number or kind in kinds}
    used = {key: dry_run.passed[key] for key in sorted(dry_run.used & dry_run.passed.keys())}
    return CheckOutcome(counts, _list_unshown_metrics(checked)), used


def _list_unshown_metrics(checked: CheckedPackage) -> tuple[str, ...]:
    """Return the metrics that no report shows, compares or computes another metric from."""
    metrics = index_metrics(checked.package)
    names = {name for report in checked.package.reports for name in (*report.shown_metrics, *report.listed_metrics)}
    names |= {item.id for report in checked.package.reports for item in list_report_metrics(checked, report)}
    names |= {item.id for item in list_measured(metrics, (metrics[name] for name in names if name in metrics))}
    return tuple(metric.id for metric in checked.package.metrics if metric.id not in names)


def _iter_prose_problems(session: Session, checked: CheckedPackage) -> Iterator[Diagnostic]:
    """Yield the problems of the prose of reports."""
    for report in checked.package.reports:
        try:
            read_prose(session.workspace, checked, report)
        except AssayError as error:
            yield from error.diagnostics


def can_be_split(package: Package) -> bool:
    """Return whether phases can cut any data of a package: series, or the rows of a grain."""
    return bool(package.series) or any(grain.at for grain in package.grains)
