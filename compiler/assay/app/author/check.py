"""Check the specs of a system (`assay check`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.app.build.report_check import iter_report_problems
from assay.app.compute.report_metrics import list_report_metrics
from assay.app.session.prose import read_prose
from assay.app.session.session import Session
from assay.engine.compiled_plan import compile_plan
from assay.engine.dry_run import DryRun
from assay.lang import normal_form, workspace
from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import index_metrics, list_measured
from assay.lang.model.package import Package
from assay.plan.planner import AppliedFilter
from assay.plan.request import Request
from assay.util.diagnostics import USAGE, AssayError, Diagnostic, fail, raise_all
from assay.util.paths import resolve_path


@dataclass(frozen=True, slots=True)
class SystemCheck:
    """The result of checking a system.

    `counts` is the number of definitions of each kind. `is_committed` is set if there is a normal form, `is_current` if
    it matches the specs, `has_normal_forms` if the workspace has some of any system. No report has `unshown_metrics`.
    """

    system: str
    counts: Mapping[str, int]
    is_committed: bool
    is_current: bool
    has_normal_forms: bool
    unshown_metrics: tuple[str, ...] = ()


def check_system(session: Session, system: str, accept: bool) -> SystemCheck:
    """Check all specs of a system, run its SQL on empty tables and check its prose.

    With `accept`, also write the normal form. Raises AssayError with every problem, and (usage) if `accept` is set and
    the workspace is the shipped one.
    """
    if accept:
        _refuse_shipped_workspace(session)
    checked = session.load_package(system)
    package = checked.package
    applied_filters = [AppliedFilter(item, "1" if item.parameter else None) for item in package.filters]
    request = Request(
        package.metrics,
        tuple(item.name for item in package.relations),
        series=tuple(item.name for item in package.series),
    )
    graph = compile_plan(checked, request, applied_filters, package.cuts).graph
    constants = [item for source in package.sources for item in source.constants]
    with DryRun(constants) as dry_run:
        problems = [
            *dry_run.run(graph),
            *iter_report_problems(package, session.get_templates(), workspace.get_positions(session.workspace, system)),
        ]
        problems += _list_prose_problems(session, checked)
        if not problems and can_be_split(package):
            plan = compile_plan(checked, request, applied_filters, cut=True)
            problems += dry_run.run(plan.graph)
    raise_all(problems)
    normal_form_path = session.workspace.get_normal_form_path(system)
    if accept:
        from assay.app.author.accept import compile_system_sql, write_accepted_files  # imports what builds reports

        write_accepted_files(session, checked, compile_system_sql(session, checked))
    is_committed = normal_form_path.is_file()
    accepted_sources = normal_form.read_header(normal_form_path.read_text(encoding="utf-8")) if is_committed else ""
    kinds = ("sources", "events", "relations", "grains", "metrics", "filters", "summaries", "reports")
    optional_kinds = ("series", "examples")  # counted only if a system has any
    counts = {kind: len(getattr(package, kind)) for kind in (*kinds, *optional_kinds)}
    return SystemCheck(
        system,
        {kind: number for kind, number in counts.items() if number or kind in kinds},
        is_committed,
        accepted_sources == checked.sources,
        normal_form_path.parent.is_dir(),
        _list_unshown_metrics(checked),
    )


def _list_unshown_metrics(checked: CheckedPackage) -> tuple[str, ...]:
    """Return the metrics that no report shows, compares or computes another metric from."""
    metrics = index_metrics(checked.package)
    names = {name for report in checked.package.reports for name in (*report.shown_metrics, *report.listed_metrics)}
    names |= {item.id for report in checked.package.reports for item in list_report_metrics(checked, report)}
    names |= {item.id for item in list_measured(metrics, (metrics[name] for name in names if name in metrics))}
    return tuple(metric.id for metric in checked.package.metrics if metric.id not in names)


def _refuse_shipped_workspace(session: Session) -> None:
    """Raise AssayError (usage) if the workspace is the shipped one and is used from outside of its folder."""
    root = resolve_path(session.workspace.root)
    is_shipped = root == resolve_path(workspace.get_shipped_workspace().root)
    if is_shipped and not resolve_path(Path.cwd()).is_relative_to(root):
        raise fail(
            "no-workspace",
            "there is no workspace to write normal forms into",
            notes=session.list_workspace_notes(),
            hint="create a workspace with `assay init DIR`",
            status=USAGE,
        )


def _list_prose_problems(session: Session, checked: CheckedPackage) -> tuple[Diagnostic, ...]:
    """Return the distinct problems of the prose of reports."""
    problems: list[Diagnostic] = []
    for report in checked.package.reports:
        try:
            read_prose(session.workspace, checked, report)
        except AssayError as error:
            problems += error.diagnostics
    return tuple(dict.fromkeys(problems))


def can_be_split(package: Package) -> bool:
    """Return whether phases can cut any data of a package: series, or the rows of a grain."""
    return bool(package.series) or any(grain.at for grain in package.grains)
