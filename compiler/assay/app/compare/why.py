"""Explain the change of a metric between runs by its steps (`assay why`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.app.compare.compare_runs import refuse_single_run
from assay.app.compare.compared_metrics import DEFAULT_RULES
from assay.app.compute.computation import Computation
from assay.app.compute.compute import compute
from assay.app.compute.query import list_run_messages
from assay.app.compute.subject import find_metric, find_report
from assay.app.judge.judging import JudgedVersions
from assay.app.judge.mixes import standardize_metrics
from assay.app.judge.recorded_change import build_change_data
from assay.app.judge.repeats import list_versions
from assay.app.judge.steps import is_of_lowest, judge_steps
from assay.app.session import filters
from assay.app.session.options import choose_summary
from assay.app.session.selection import Selection
from assay.app.session.session import Session
from assay.judgement.steps import StepChange, StepTable
from assay.lang.checked_package import CheckedPackage
from assay.lang.chosen_rows import derive_steps, list_chains
from assay.lang.model.report import Report
from assay.lang.step_chains import Chain, NoSteps, add_steps, derive_whole_chain
from assay.plan.request import Request
from assay.quality.finding import list_names
from assay.report.mixes import build_mix_data, describe_mixes
from assay.report.step_sentences import compose_cause
from assay.runs.model import NamedRun
from assay.util.diagnostics import USAGE, AssayError, fail

_MOST_NAMES = 8


@dataclass(frozen=True, slots=True)
class Explanation:
    """The steps of a total, `metric`, in each version against the first, `base`.

    `notes` are sentences on all versions, `mixes` those on a version by its id: its samples are of other things.
    """

    metric: str
    name: str
    unit: str
    report: str
    base: str
    tables: tuple[StepTable, ...]
    level: float
    noise: str
    filters: tuple[str, ...]
    summary: str
    mixes: dict[str, str]
    warnings: tuple[str, ...]


def explain_change(session: Session, name: str, runs: Sequence[NamedRun], selection: Selection) -> Explanation:
    """Divide the change of a metric between runs into those of its steps, and judge these.

    `name` is a metric, or a grain whose steps no metric sums up. Filters, summary and rules are those of the report
    that shows the metric, or of the selected one. Raises AssayError, also (usage) for a metric without steps.
    """
    refuse_single_run(runs)
    checked, report, chain = _select_chain(session, name, selection)
    rules = report.judgement if report and report.judgement else DEFAULT_RULES
    applied_filters = filters.parse_filters(checked.package, report, selection.filters, selection.no_filters)
    summary = choose_summary(checked.package, report, selection.summary)
    _refuse_lowest_hosts(checked, chain, summary)
    package = add_steps(checked, chain)
    request = Request(chain.requested, judged=chain.requested)
    computation = compute(session, package, runs, request, applied_filters)

    def calculate(split_package: CheckedPackage, requested: Request) -> Computation:
        return compute(session, split_package, runs, requested, applied_filters)

    standardized = standardize_metrics(package, (chain.total,), summary, calculate)
    versions = list_versions(computation.runs)
    judged_versions = JudgedVersions(versions, summary, standardized=standardized)
    judgements, tables = judge_steps(package, rules, chain, judged_versions)
    mixes = {
        version: describe_mixes([(chain.total.name, data)], (versions[0].id, version))
        for (_, version), item in standardized.items()
        if (data := build_mix_data(item.mix, judgements.changes[chain.total.id, version].judgement.comparison))
    }
    return Explanation(
        chain.name,
        chain.total.name,
        chain.total.unit.symbol,
        f"{checked.package.system}/{report.name}" if report else "",
        versions[0].id,
        tables,
        judgements.level,
        judgements.noise,
        tuple(item.label for item in applied_filters),
        summary,
        mixes,
        list_run_messages(package, computation, (chain.total,)),
    )


def _select_chain(session: Session, name: str, selection: Selection) -> tuple[CheckedPackage, Report | None, Chain]:
    """Return the package, the report and the chain of a metric or grain. Raises AssayError if it has no steps."""
    report = session.find_report_of_runs(selection.report) if selection.report else None
    systems = session.list_systems(report[0].package.system if report else selection.system)
    if whole := _find_whole_chain(session, systems, name):
        checked, chain = whole
        source = checked.get_metric(next(step.source for step in chain.steps if step.source))
        return checked, report[1] if report else find_report(checked.package, source), chain
    try:
        subject = find_metric(session, name, systems[0] if len(systems) == 1 else None)
    except AssayError as error:
        (problem,) = error.diagnostics
        hint = "; ".join(filter(None, (problem.hint, _describe_names(_list_names(session, systems)))))
        raise AssayError((replace(problem, hint=hint),), error.status) from None
    chain_or_reason = derive_steps(subject.checked.package, subject.metric)
    if isinstance(chain_or_reason, NoSteps):
        system = subject.checked.package.system
        raise fail(
            "no-steps",
            f"`{subject.id}` has no steps: {chain_or_reason.value}",
            expected="a time between two instants, of which other metrics measure parts",
            hint=_describe_names(_list_names(session, (system,))) or f"no metric of {system} has steps",
            status=USAGE,
        )
    return subject.checked, report[1] if report else subject.report, chain_or_reason


def _find_whole_chain(session: Session, systems: Sequence[str], name: str) -> tuple[CheckedPackage, Chain] | None:
    """Return the chain of the grain of a name, with its package; None if a metric has the name, or without one."""
    packages = [session.load_package(system) for system in systems]
    if any(name in package.measured for package in packages):
        return None
    grains = [(package, grain) for package in packages for grain in package.package.grains if grain.name == name]
    chains = [(package, chain) for package, grain in grains if (chain := derive_whole_chain(package.package, grain))]
    return chains[0] if len(chains) == 1 else None


def _list_names(session: Session, systems: Sequence[str]) -> Iterator[str]:
    """Yield the ids of metrics, and names of grains, that have steps."""
    for system in systems:
        for chain in list_chains(session.load_package(system).package):
            yield chain.name


def _describe_names(names: Iterable[str]) -> str:
    """Return which metrics and grains have steps; empty for none."""
    texts = [f"`{item}`" for item in names]
    return f"`assay why` explains {list_names(texts, _MOST_NAMES)}" if texts else ""


def _refuse_lowest_hosts(checked: CheckedPackage, chain: Chain, summary: str) -> None:
    """Raise AssayError (usage) if the average is over the hosts that have the lowest averages."""
    if is_of_lowest(checked, chain, summary):
        raise fail(
            "no-steps",
            f"the average `{summary}` of {chain.total.name} is over the lowest of some hosts, which steps do not share",
            hint="pass --summary with one over all of them",
            status=USAGE,
        )


def export_explanation(explanation: Explanation) -> dict[str, Any]:
    """Return an explanation as plain data: averages in the unit of the metric, sums in whole nanoseconds."""
    return {
        "metric": explanation.metric,
        "name": explanation.name,
        "unit": explanation.unit,
        "report": explanation.report,
        "filters": list(explanation.filters),
        "summary": explanation.summary,
        "base": explanation.base,
        "level": explanation.level,
        "noise": explanation.noise,
        "versions": [_export_table(explanation, table) for table in explanation.tables],
    }


def _export_table(explanation: Explanation, table: StepTable) -> dict[str, Any]:
    cause = table.cause
    (base_rows, base_complete), (rows, complete) = table.rows
    return {
        "run": table.version,
        "rows": {"base": base_rows, "value": rows, "base_complete": base_complete, "value_complete": complete},
        "total": _export_step(explanation, table, table.total),
        "steps": [_export_step(explanation, table, step) for step in table.steps],
        "incomplete": _export_averages(table, table.rest) if table.has_rest else None,
        "cause": cause.id if cause else None,
        "sentence": compose_cause(table, explanation.unit),
    }


def _export_step(explanation: Explanation, table: StepTable, step: StepChange) -> dict[str, Any]:
    return {
        "id": step.id,
        "name": step.name,
        "metric": step.metric or None,
        "from": step.ends[0],
        "to": step.ends[1],
        **_export_averages(table, step.averages),
        "base_sums": list(step.sums[0]),
        "value_sums": list(step.sums[1]),
        **{
            name: value
            for name, value in build_change_data(step.id, step.change, explanation.level).items()
            if name not in ("difference", "gate", "tails")
        },
    }


def _export_averages(table: StepTable, averages: tuple[Any, Any]) -> dict[str, Any]:
    share = table.compute_share(averages[1] - averages[0])
    return {
        "base_value": float(averages[0]),
        "value": float(averages[1]),
        "difference": float(averages[1] - averages[0]),
        "share": None if share is None else float(share),
    }
