"""Explain the change of a metric between runs by its steps, hosts, values and times (`assay why`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.app.audit.change_explanation import Explanation
from assay.app.compare.compare_runs import refuse_single_run
from assay.app.compare.explained_metric import ExplainedMetric, choose_metric, leave_out_steps_of_lowest
from assay.app.compare.record_changes import compare_record_names
from assay.app.compute.computation import Computation
from assay.app.compute.compute import compute
from assay.app.compute.query import list_run_messages
from assay.app.judge.foci import locate_changes
from assay.app.judge.judging import JudgedVersions, judge_versions
from assay.app.judge.mixes import Calculate, standardize_metrics
from assay.app.judge.repeats import list_versions
from assay.app.judge.steps import judge_steps
from assay.app.session import filters
from assay.app.session.options import choose_summary
from assay.app.session.selection import Selection
from assay.app.session.session import Session
from assay.judgement.focus import FocusTable
from assay.judgement.report_judgements import JudgedChange, ReportJudgements
from assay.judgement.steps import StepTable
from assay.lang.checked_package import CheckedPackage
from assay.plan.request import Request
from assay.report.focus_sentences import describe_foci
from assay.report.mixes import build_mix_data, describe_mixes
from assay.report.step_sentences import compose_cause
from assay.runs.model import NamedRun


def explain_change(session: Session, name: str, runs: Sequence[NamedRun], selection: Selection) -> Explanation:
    """Divide the change of a metric between runs into those of its steps, hosts, values and times, and judge these.

    `name` is a metric, or a grain whose steps no metric sums up. Filters, summary and rules are those of the report
    that shows the metric, or of the selected one. Raises AssayError, also (usage) for a formula.
    """
    refuse_single_run(runs)
    choice = choose_metric(session, name, selection)
    summary = choose_summary(choice.checked.package, choice.report, selection.summary)
    choice = leave_out_steps_of_lowest(choice, summary)
    checked, report, total = choice.checked, choice.report, choice.metric
    applied_filters = filters.parse_filters(checked.package, report, selection.filters, selection.no_filters)

    def calculate(package: CheckedPackage, request: Request) -> Computation:
        return compute(session, package, runs, request, applied_filters)

    computation, judged = _judge(choice, summary, calculate)
    judgements, foci = judged.judgements, judged.foci
    changes = {version: change for (name, version), change in judgements.changes.items() if name == total.id}
    return Explanation(
        checked.package.system,
        choice.name,
        total.name,
        total.unit.symbol,
        f"{checked.package.system}/{report.name}" if report else "",
        judgements.base,
        judged.tables,
        choice.no_steps,
        changes,
        foci,
        {version: _list_sentences(choice, judged, version, changes[version]) for version in changes},
        judgements.level,
        judgements.noise,
        tuple(applied_filters),
        summary,
        judged.mixes,
        compare_record_names(checked.package, total.id, computation.runs, judgements.level),
        list_run_messages(choice.package, computation, (total,)),
    )


@dataclass(frozen=True, slots=True)
class _Judged:
    """The judgements of a metric and its steps; where its change comes from, and sentences on mixes, by version."""

    judgements: ReportJudgements
    tables: tuple[StepTable, ...]
    foci: dict[str, FocusTable]
    mixes: dict[str, str]


def _judge(choice: ExplainedMetric, summary: str, calculate: Calculate) -> tuple[Computation, _Judged]:
    """Compute and judge a metric and its steps. Raises AssayError if a run has no row with all instants of these."""
    package, total, chain = choice.package, choice.metric, choice.chain
    requested = chain.requested if chain else (total,)
    computation = calculate(package, Request(requested, judged=requested))
    standardized = standardize_metrics(package, (total,), summary, calculate)
    versions = list_versions(computation.runs)
    tables: tuple[StepTable, ...] = ()
    judged_versions = JudgedVersions(versions, summary, standardized=standardized)
    if chain:
        judgements, tables = judge_steps(package, choice.rules, chain, judged_versions)
    else:
        judgements = judge_versions(package, choice.rules, (total,), judged_versions)
    foci = locate_changes(package, judgements, versions, summary, calculate, (total.id,))
    mixes = {
        version: describe_mixes([(total.name, data)], (versions[0].id, version))
        for (_, version), item in standardized.items()
        if (data := build_mix_data(item.mix, judgements.changes[total.id, version].judgement.comparison))
    }
    return computation, _Judged(judgements, tables, {version: table for (_, version), table in foci.items()}, mixes)


def _list_sentences(choice: ExplainedMetric, judged: _Judged, version: str, change: JudgedChange) -> tuple[str, ...]:
    """Return the sentence on the steps of a version, and that on hosts, values and times."""
    steps = [compose_cause(table, choice.metric.unit.symbol) for table in judged.tables if table.version == version]
    table = judged.foci.get(version)
    if steps and not (table and table.divisions):
        return tuple(steps)  # they say why nothing is named
    return *steps, describe_foci(choice.package, choice.metric, change, table)
