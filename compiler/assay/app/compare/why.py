"""Explain the change of a metric between runs by its steps, hosts, values and times (`assay why`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.app.compare.compare_runs import refuse_single_run
from assay.app.compare.compared_metrics import DEFAULT_RULES, Selection
from assay.app.compute.computation import Computation
from assay.app.compute.compute import compute
from assay.app.compute.query import list_run_messages
from assay.app.compute.subject import find_metric, find_report
from assay.app.judge.foci import locate_changes
from assay.app.judge.judging import judge_versions
from assay.app.judge.mixes import Calculate, standardize_metrics
from assay.app.judge.recorded_change import build_change_data
from assay.app.judge.repeats import list_versions
from assay.app.judge.steps import is_of_lowest, judge_steps
from assay.app.session import filters
from assay.app.session.options import choose_summary
from assay.app.session.session import Session
from assay.judgement.focus import FocusTable
from assay.judgement.report_judgements import JudgedChange, ReportJudgements
from assay.judgement.steps import StepChange, StepTable
from assay.lang.checked_package import CheckedPackage
from assay.lang.chosen_rows import derive_steps, list_chains
from assay.lang.formula import is_formula, list_inputs
from assay.lang.model.package import Metric
from assay.lang.model.report import Report
from assay.lang.step_chains import Chain, NoSteps, add_steps, derive_whole_chain
from assay.plan.request import Request
from assay.quality.finding import list_names
from assay.report.focus_data import build_focus_data
from assay.report.focus_sentences import describe_foci
from assay.report.mixes import build_mix_data, describe_mixes
from assay.report.step_sentences import compose_cause
from assay.runs.model import NamedRun
from assay.util.diagnostics import USAGE, AssayError, fail

_MOST_NAMES = 8


@dataclass(frozen=True, slots=True)
class Explanation:
    """The steps of a total, `metric`, in each version against the first, `base`, and where its change comes from.

    `tables` are empty for a metric without steps: `no_steps` says why. `changes`, `foci` and `mixes` are by the id of
    the version; the latter are sentences on versions whose samples are of other things.
    """

    metric: str
    name: str
    unit: str
    report: str
    base: str
    tables: tuple[StepTable, ...]
    no_steps: str
    changes: dict[str, JudgedChange]
    foci: dict[str, FocusTable]
    sentences: dict[str, tuple[str, ...]]
    level: float
    noise: str
    filters: tuple[str, ...]
    summary: str
    mixes: dict[str, str]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Choice:
    """A metric, or the total of a chain, with the report whose rules apply."""

    checked: CheckedPackage
    report: Report | None
    metric: Metric
    chain: Chain | None
    no_steps: str = ""

    @property
    def name(self) -> str:
        """The id of the metric, or the name of the grain."""
        return self.chain.name if self.chain else self.metric.id

    @property
    def package(self) -> CheckedPackage:
        """The package with the steps of the metric."""
        return add_steps(self.checked, self.chain) if self.chain else self.checked


def explain_change(session: Session, name: str, runs: Sequence[NamedRun], selection: Selection) -> Explanation:
    """Divide the change of a metric between runs into those of its steps, hosts, values and times, and judge these.

    `name` is a metric, or a grain whose steps no metric sums up. Filters, summary and rules are those of the report
    that shows the metric, or of the selected one. Raises AssayError, also (usage) for a formula.
    """
    refuse_single_run(runs)
    choice = _choose_metric(session, name, selection)
    summary = choose_summary(choice.checked.package, choice.report, selection.summary)
    choice = _leave_out_steps_of_lowest(choice, summary)
    checked, report, total = choice.checked, choice.report, choice.metric
    applied_filters = filters.parse_filters(checked.package, report, selection.filters, selection.no_filters)

    def calculate(package: CheckedPackage, request: Request) -> Computation:
        return compute(session, package, runs, request, applied_filters)

    computation, judged = _judge(choice, summary, calculate)
    judgements, foci = judged.judgements, judged.foci
    changes = {version: change for (name, version), change in judgements.changes.items() if name == total.id}
    return Explanation(
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
        tuple(item.label for item in applied_filters),
        summary,
        judged.mixes,
        list_run_messages(choice.package, computation, (total,)),
    )


@dataclass(frozen=True, slots=True)
class _Judged:
    """The judgements of a metric and its steps; where its change comes from, and sentences on mixes, by version."""

    judgements: ReportJudgements
    tables: tuple[StepTable, ...]
    foci: dict[str, FocusTable]
    mixes: dict[str, str]


def _judge(choice: _Choice, summary: str, calculate: Calculate) -> tuple[Computation, _Judged]:
    """Compute and judge a metric and its steps. Raises AssayError if a run has no row with all instants of these."""
    package, total, chain = choice.package, choice.metric, choice.chain
    rules = choice.report.judgement if choice.report and choice.report.judgement else DEFAULT_RULES
    requested = chain.requested if chain else (total,)
    computation = calculate(package, Request(requested, judged=requested))
    standardized = standardize_metrics(package, (total,), summary, calculate)
    versions = list_versions(computation.runs)
    tables: tuple[StepTable, ...] = ()
    if chain:
        judgements, tables = judge_steps(package, rules, chain, versions, summary, standardized=standardized)
    else:
        judgements = judge_versions(package, rules, (total,), versions, summary, (), standardized)
    foci = locate_changes(package, judgements, versions, summary, calculate, (total.id,))
    mixes = {
        version: describe_mixes([(total.name, data)], (versions[0].id, version))
        for (_, version), item in standardized.items()
        if (data := build_mix_data(item.mix, judgements.changes[total.id, version].judgement.comparison))
    }
    return computation, _Judged(judgements, tables, {version: table for (_, version), table in foci.items()}, mixes)


def _leave_out_steps_of_lowest(choice: _Choice, summary: str) -> _Choice:
    """Return a metric without steps if its average is over the hosts that have the lowest ones.

    Raises AssayError (usage) for a grain, which has nothing but steps.
    """
    if choice.chain is None or not is_of_lowest(choice.checked, choice.chain, summary):
        return choice
    reason = f"the average `{summary}` is over the lowest of some hosts, which steps do not share"
    if choice.chain.grain:
        raise fail("no-steps", f"`{choice.chain.grain}` has no steps: {reason}", status=USAGE,
                   hint="pass --summary with one over all of them")  # fmt: skip
    return replace(choice, chain=None, no_steps=reason)


def _list_sentences(choice: _Choice, judged: _Judged, version: str, change: JudgedChange) -> tuple[str, ...]:
    """Return the sentence on the steps of a version, and that on hosts, values and times."""
    steps = [compose_cause(table, choice.metric.unit.symbol) for table in judged.tables if table.version == version]
    table = judged.foci.get(version)
    if steps and not (table and table.divisions):
        return tuple(steps)  # they say why nothing is named
    return *steps, describe_foci(choice.package, choice.metric, change, table)


def _choose_metric(session: Session, name: str, selection: Selection) -> _Choice:
    """Return a metric with its steps, or the total of a grain. Raises AssayError for an unknown name and a formula."""
    report = session.find_report_of_runs(selection.report) if selection.report else None
    systems = session.list_systems(report[0].package.system if report else selection.system)
    if whole := _find_whole_chain(session, systems, name):
        checked, chain = whole
        source = checked.get_metric(next(step.source for step in chain.steps if step.source))
        return _Choice(checked, report[1] if report else find_report(checked.package, source), chain.total, chain)
    try:
        subject = find_metric(session, name, systems[0] if len(systems) == 1 else None)
    except AssayError as error:
        (problem,) = error.diagnostics
        hint = "; ".join(filter(None, (problem.hint, _describe_names(_list_names(session, systems)))))
        raise AssayError((replace(problem, hint=hint),), error.status) from None
    checked, metric = subject.checked, subject.metric
    if is_formula(metric):
        inputs = [f"`assay why {item}`" for item in list_inputs(metric.measure)]
        raise fail("no-steps", f"`{subject.id}` is computed from averages of other metrics", status=USAGE,
                   hint=f"explain an input: {list_names(inputs, _MOST_NAMES)}")  # fmt: skip
    chosen_report = report[1] if report else subject.report
    chain_or_reason = derive_steps(checked.package, metric)
    if isinstance(chain_or_reason, NoSteps):
        return _Choice(checked, chosen_report, metric, None, chain_or_reason.value)
    return _Choice(checked, chosen_report, chain_or_reason.total, chain_or_reason)


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
        "no_steps": explanation.no_steps or None,
        "versions": [_export_version(explanation, version) for version in explanation.changes],
    }


def _export_version(explanation: Explanation, version: str) -> dict[str, Any]:
    change, table = explanation.changes[version], explanation.foci.get(version)
    tables = [_export_table(explanation, item) for item in explanation.tables if item.version == version]
    data = build_change_data(explanation.metric, change, explanation.level)
    return {
        "run": version,
        **(
            tables[0] if tables else {"total": {"id": explanation.metric, "name": explanation.name, **_drop_rest(data)}}
        ),
        "where": build_focus_data(table) if table else None,
        "sentences": list(explanation.sentences[version]),
    }


def _drop_rest(data: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name not in ("gate", "tails")}


def _export_table(explanation: Explanation, table: StepTable) -> dict[str, Any]:
    cause = table.cause
    (base_rows, base_complete), (rows, complete) = table.rows
    return {
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
