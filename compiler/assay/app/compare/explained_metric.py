"""Choose what `assay why` explains: a metric, its steps, and the report whose rules apply."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from assay.app.compare.compared_metrics import DEFAULT_RULES
from assay.app.compute.subject import find_metric, find_report
from assay.app.judge.steps import is_of_lowest
from assay.app.session.selection import Selection
from assay.app.session.session import Session
from assay.lang.checked_package import CheckedPackage
from assay.lang.chosen_rows import derive_steps, list_chains
from assay.lang.formula import is_formula, list_inputs
from assay.lang.model.package import Metric
from assay.lang.model.report import Report
from assay.lang.model.vocabulary import Judgement
from assay.lang.step_chains import Chain, NoSteps, add_steps, derive_whole_chain
from assay.quality.finding import list_names
from assay.util.diagnostics import USAGE, AssayError, fail

_MOST_NAMES = 8


@dataclass(frozen=True, slots=True)
class ExplainedMetric:
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
    def rules(self) -> Judgement:
        """The rules of the report, or the default ones."""
        return self.report.judgement if self.report and self.report.judgement else DEFAULT_RULES

    @property
    def package(self) -> CheckedPackage:
        """The package with the steps of the metric."""
        return add_steps(self.checked, self.chain) if self.chain else self.checked


def choose_metric(session: Session, name: str, selection: Selection) -> ExplainedMetric:
    """Return a metric with its steps, or the total of a grain. Raises AssayError for an unknown name and a formula."""
    report = session.find_report_of_runs(selection.report) if selection.report else None
    systems = session.list_systems(report[0].package.system if report else selection.system)
    if whole := _find_whole_chain(session, systems, name):
        checked, chain = whole
        source = checked.get_metric(next(step.source for step in chain.steps if step.source))
        return ExplainedMetric(
            checked, report[1] if report else find_report(checked.package, source), chain.total, chain
        )
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
        return ExplainedMetric(checked, chosen_report, metric, None, chain_or_reason.value)
    return ExplainedMetric(checked, chosen_report, chain_or_reason.total, chain_or_reason)


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


def leave_out_steps_of_lowest(choice: ExplainedMetric, summary: str) -> ExplainedMetric:
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
