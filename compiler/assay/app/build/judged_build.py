"""Judge a computed report: the versions of each group of runs, and metrics for each value of a column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from assay.app.build.computed_build import ComputedBuild
from assay.app.build.prepared_report import PreparedReport
from assay.app.compare.record_changes import list_one_sided_names
from assay.app.compute.computation import Computation
from assay.app.compute.point_files import name_point_files
from assay.app.compute.report_metrics import list_judged_metrics
from assay.app.judge.foci import locate_report_changes
from assay.app.judge.report_judging import create_calculation, judge_groups, judge_report
from assay.app.judge.steps import explain_totals
from assay.app.session.session import Session
from assay.judgement.report_judgements import ReportJudgements
from assay.report.blocks.claims import describe_claims
from assay.report.group_changes import NO_CHANGES, GroupChanges
from assay.report.parts import ShownParts


@dataclass(frozen=True, slots=True)
class JudgedBuild:
    """The judgements of a report by group of runs (empty: of all runs), and those by the values of a column."""

    by_group: Mapping[str, ReportJudgements]
    by_value: GroupChanges

    @property
    def of_all_runs(self) -> ReportJudgements | None:
        """The judgements of a report without groups; None if nothing is judged."""
        return self.by_group.get("")


NO_JUDGEMENTS = JudgedBuild({}, NO_CHANGES)


def judge_build(session: Session, prepared: PreparedReport, computed: ComputedBuild) -> JudgedBuild:
    """Judge the main runs of each group against its first one; groups of which nothing is judged are left out.

    A report on the noise between runs judges nothing. Raises AssayError.
    """
    request, summary = prepared.request, prepared.options.summary
    by_value = judge_groups(session, prepared.checked, prepared.shown_report, request, prepared.column)
    by_group = {}
    for group in computed.computed.groups if not prepared.options.measures_noise else ():
        request_of_group = group.request_runs(request)
        calculate = create_calculation(session, request_of_group)
        computation = _select_compared(group.computation, {run.id for run in computed.main_runs})
        metrics = list_judged_metrics(computed.checked, group.report)
        judged = judge_report(computed.checked, group.report, computation, summary, metrics, calculate)
        if judged and group.report.judgement:
            calculate = create_calculation(session, request_of_group, is_assessed=False)  # the data of totals are
            steps = explain_totals(computed.checked, group.report.judgement, judged, summary, calculate)
            foci = locate_report_changes(computed.checked, judged, computation, summary, calculate, by_value)
            records = list_one_sided_names(computed.checked.package, computation.runs) if not computation.views else {}
            by_group[group.inputs.name] = replace(
                judged, steps=steps, foci=foci, grouped=by_value.changes, grouped_by=prepared.column, records=records
            )
    return JudgedBuild(by_group, by_value)


def create_parts(prepared: PreparedReport, computed: ComputedBuild, judged: JudgedBuild) -> ShownParts:
    """Return what the parts of the report show, by group of runs."""
    return ShownParts(
        [group.create_shown_group() for group in computed.computed.groups],
        prepared.texts,
        computed.computed.notes,
        describe_claims(computed.claims),
        judged.by_group,
        name_point_files(computed.computation),
    )


def _select_compared(computation: Computation, compared: set[str]) -> Computation:
    """Return the results of the runs or phases with these ids, and of the runs that calibrate their judgements."""
    runs = computation.runs
    if not computation.views:
        runs = tuple(run for run in runs if run.id in compared or run.ingested_run.run.is_calibration)
    return replace(computation, runs=runs, views=tuple(view for view in computation.views if view.id in compared))
