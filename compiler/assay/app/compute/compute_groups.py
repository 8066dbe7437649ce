"""Compute a report for each group of its runs, without the parts whose records the runs lack."""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Collection, Iterator, Mapping, Sequence

from assay.app.compute.available_parts import Notes, divide_runs, drop_unavailable_parts
from assay.app.compute.computation import Computation, RunResult, join_computations
from assay.app.compute.report_request import ReportRequest
from assay.app.compute.run_figures import create_run_figures
from assay.app.compute.run_groups import GroupInputs, describe_absent_groups, join_notes, join_reports
from assay.app.session.ingester import UnrecognisedSourcesError
from assay.app.session.session import Session
from assay.lang import dependencies
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.report import Report
from assay.plan.request import Request, RowRequest
from assay.report.blocks import claims
from assay.report.blocks.claims import CheckedClaim, File
from assay.report.blocks.rows import list_row_requests
from assay.report.parts import describe_undrawn_series
from assay.report.prose import Prose
from assay.report.run_groups import ShownGroup, ShownPhases
from assay.report.run_results import label_group_runs, label_runs
from assay.runs.model import NamedRun
from assay.util.diagnostics import AssayError, Diagnostic


@dataclasses.dataclass(frozen=True, slots=True)
class ComputedGroup:
    """A group of runs with what of a report they have the records for, and their results.

    `notes` say what was dropped, `warnings` which files have no event.
    """

    inputs: GroupInputs
    report: Report
    notes: Notes
    request: Request
    computation: Computation
    warnings: tuple[str, ...]

    def request_runs(self, request: ReportRequest) -> ReportRequest:
        """Return the request of the report for the runs of this group alone."""
        return _select_runs(request, self.report, self.inputs.texts, self.inputs.runs, request.point_names)

    def create_shown_group(self) -> ShownGroup:
        """Return the group for a report, without the runs that only calibrate judgements."""
        compared = (item for item in self.computation.runs if not item.ingested_run.run.is_calibration)
        runs = [create_run_figures(item) for item in compared]
        return ShownGroup(self.inputs.name, self.report, runs, _describe_phases(self.computation))


@dataclasses.dataclass(frozen=True, slots=True)
class ComputedReport:
    """What of a report its groups can show, with all rows that it shows and the results of all runs."""

    report: Report
    notes: Notes
    rows: tuple[RowRequest, ...]
    computation: Computation
    groups: tuple[ComputedGroup, ...]


def compute_groups(
    session: Session, checked: CheckedPackage, report: Report, request: ReportRequest, inputs: Sequence[GroupInputs]
) -> ComputedReport:
    """Compute a report for groups of its runs. Raises AssayError."""
    texts = [text for item in inputs for text in item.texts.values()]
    point_names = _list_point_names(checked, report, texts)
    groups = [_compute_group(session, checked, request, item, point_names) for item in inputs]
    requested = functools.reduce(operator.or_, (group.request for group in groups))
    computation = join_computations(
        checked,
        [group.computation for group in groups],
        requested,
        request.phase_selection,
        request.applied_filters,
    )
    return ComputedReport(
        join_reports(report, [group.inputs for group in groups], [group.report for group in groups]),
        join_notes([group.notes for group in groups]),
        requested.rows,
        computation,
        tuple(groups),
    )


def _list_point_names(checked: CheckedPackage, report: Report, texts: Sequence[Prose]) -> set[str]:
    """Return the names of the rows that are points in any group: they are points in all. Empty without groups."""
    if not report.groups:
        return set()
    return {item.name for item in list_row_requests(checked, report, texts) if item.are_points}


def _compute_group(
    session: Session,
    checked: CheckedPackage,
    request: ReportRequest,
    inputs: GroupInputs,
    point_names: Collection[str],
) -> ComputedGroup:
    """Compute what the runs of a group have the records for.

    Files of a source without any event count as no files if other sources remain that the report shows. Rows whose
    names are among `point_names` are points.

    Raises AssayError: the problem of such files if nothing else remains.
    """
    unrecognised: dict[tuple[str, str], Diagnostic] = {}
    problem: AssayError | None = None
    runs, texts = inputs.runs, inputs.texts
    if request.phase_selection and inputs.name:
        selection = request.phase_selection.select_runs([run.id for run in runs])
        request = dataclasses.replace(request, phase_selection=selection)
    while True:
        try:
            available, notes = drop_unavailable_parts(checked, inputs.report, texts, runs, unrecognised, inputs.name)
        except AssayError as error:
            raise problem or error from None
        try:
            computations = []
            for alike in divide_runs(checked, available, runs, unrecognised):
                remaining, _ = drop_unavailable_parts(checked, available, texts, alike, unrecognised, inputs.name)
                selected = _select_runs(request, remaining, texts, alike, point_names)
                computations.append(selected.compute(session, checked, remaining))
        except UnrecognisedSourcesError as error:
            if error.problems.keys() <= unrecognised.keys():
                raise
            problem = error
            unrecognised |= error.problems
            continue
        requested = _select_runs(request, available, texts, runs, point_names).build_request(checked, available)
        computation = join_computations(
            checked, computations, requested, request.phase_selection, request.applied_filters
        )
        warnings = tuple(_list_unrecognised(unrecognised))
        return ComputedGroup(
            inputs, available, notes, requested, computation.sort_runs([run.id for run in runs]), warnings
        )


def _select_runs(
    request: ReportRequest,
    report: Report,
    texts: Mapping[str, Prose],
    runs: Sequence[NamedRun],
    point_names: Collection[str],
) -> ReportRequest:
    """Return the request of a report for some of its runs."""
    phase_selection = request.phase_selection
    return dataclasses.replace(
        request,
        runs=runs,
        phase_selection=phase_selection.select_runs([run.id for run in runs]) if phase_selection else None,
        texts=[texts[file] for part in report.parts for file in part.prose_files],
        point_names=point_names,
    )


def _list_unrecognised(unrecognised: Mapping[tuple[str, str], Diagnostic]) -> Iterator[str]:
    """Yield a warning about each source of a run whose files have no event."""
    for (run, source), item in sorted(unrecognised.items()):
        problem = item.message.removeprefix(f"run {run}: ")
        yield f"{run}: {problem} (source {source}), so what reads it is left out; " + "; ".join(item.notes)


def _describe_phases(computation: Computation) -> ShownPhases | None:
    """Return the results of the phases of runs, and the instants that bound them; None if runs are not cut."""
    if not computation.views:
        return None
    instants = {
        run.id: tuple((item.name, item.t_ns) for item in phases.instants)
        for run, phases in zip(computation.runs, computation.phases, strict=True)
    }
    return ShownPhases([create_run_figures(view) for view in computation.views], instants)


def list_group_warnings(report: Report, groups: Sequence[ComputedGroup]) -> Iterator[str]:
    """Yield which groups have no runs, and the warnings of those that have some."""
    yield from describe_absent_groups(report, [group.inputs for group in groups])
    yield from (warning for group in groups for warning in group.warnings)


def list_undrawn_series(checked: CheckedPackage, groups: Sequence[ComputedGroup]) -> Iterator[str]:
    """Yield a sentence on each series of a run that a part does not draw as a whole."""
    for group in groups:
        runs = [create_run_figures(item) for item in group.computation.runs]
        counts = [run.ingested_run.counts for run in group.computation.runs]
        yield from describe_undrawn_series(checked, group.report, runs, label_runs(group.report, runs), counts)


def check_group_claims(checked: CheckedPackage, groups: Sequence[ComputedGroup]) -> tuple[CheckedClaim, ...]:
    """Check each claim of a report about its pivots against the results of the runs of its group."""
    return tuple(claim for group in groups for claim in _check_claims(checked, group))


def _check_claims(checked: CheckedPackage, group: ComputedGroup) -> tuple[CheckedClaim, ...]:
    report, runs = group.inputs.report, group.computation.runs
    if not report.claims:
        return ()
    figures = [create_run_figures(item) for item in runs]
    files = {
        (run.ingested_run.run.id, pivot.title): _list_grain_files(checked, run, pivot.grain)
        for run in runs
        for pivot in claims.find_pivots(report).values()
    }
    return claims.check_claims(checked, report, figures, label_group_runs(report, group.inputs.name, figures), files)


def _list_grain_files(checked: CheckedPackage, run: RunResult, grain: str) -> tuple[File, ...]:
    """Return name, size and SHA-256 of the raw files of a run that the rows of a grain are computed from."""
    events = dependencies.collect_dependencies(checked.package, [], [], [grain]).events
    sources = {event.source for event in checked.package.events if event.name in events}
    parts = [part for part in run.ingested_run.parts if part.source.name in sources]
    return tuple((item.name, item.size, item.sha256) for part in parts for item in part.hashes)
