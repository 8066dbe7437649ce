"""Judge the steps of a total: their exact averages in two versions, and the changes of these."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from assay.app.judge.judging import JudgedVersion, JudgedVersions, build_run_cells, judge_versions
from assay.app.judge.mixes import Calculate
from assay.app.judge.repeats import list_versions, split_calibration
from assay.engine.results import Distribution, RunResults
from assay.judgement.batches import measure_run
from assay.judgement.gate import Key
from assay.judgement.report_judgements import JudgedChange, ReportJudgements
from assay.judgement.steps import StepChange, StepTable, add_averages
from assay.lang.checked_package import CheckedPackage
from assay.lang.chosen_rows import derive_steps
from assay.lang.model.package import Metric
from assay.lang.model.vocabulary import Judgement as Rules
from assay.lang.step_chains import Chain, Step, add_steps
from assay.plan.request import Request
from assay.util.diagnostics import AssayError, fail

_MOST_TOTALS = 2  # of a report that have their steps


def judge_steps(
    checked: CheckedPackage,
    rules: Rules,
    chain: Chain,
    compared: JudgedVersions,
) -> tuple[ReportJudgements, tuple[StepTable, ...]]:
    """Return the judgements of a total and its steps, and a table for each version after the first.

    Raises AssayError if a run has no row with all instants, or some whose instants are in another order.
    """
    versions, summary = compared.versions, compared.summary
    for version in versions:
        for run in version.runs:
            _check_run(chain, run, version.id)
    judgements = judge_versions(checked, rules, chain.metrics, compared)

    def build_change(metric: Metric, version: JudgedVersion, step: Step | None) -> StepChange:
        pair = (versions[0], version)
        base, other = (_average_runs(checked, metric, item.runs, summary) for item in pair)
        of_base, of_other = (tuple(_add_cells(run, metric) for run in item.runs) for item in pair)
        change = judgements.changes[metric.id, version.id]
        ends = (step.start, step.end) if step else (chain.steps[0].start, chain.steps[-1].end)
        source = step.source if step else metric.id
        return StepChange(metric.id, metric.name, source, ends, (base, other), (of_base, of_other), change)

    tables = []
    for version in versions[1:]:
        total = build_change(chain.total, version, None)
        steps = tuple(build_change(step.metric, version, step) for step in chain.steps)
        sums = add_averages([step.averages for step in steps])
        rest = total.averages[0] - sums[0], total.averages[1] - sums[1]
        base, other = (
            (_count_samples(chain.total, item), _count_samples(chain.steps[0].metric, item))
            for item in (versions[0], version)
        )
        tables.append(StepTable(version.id, total, steps, rest, (base, other)))
    return judgements, tuple(tables)


def explain_totals(
    checked: CheckedPackage, rules: Rules, judgements: ReportJudgements, summary: str, calculate: Calculate
) -> dict[Key, StepTable]:
    """Return the steps of the totals that a report judges, for the versions in which they are worse or better.

    Those that the gate names come first, then those with the largest certain change.
    `calculate` computes metrics over the runs of the report. Totals of which a run lacks steps are left out, and those
    whose samples are of other things in a version.
    """
    changed = [key for key, change in judgements.changes.items() if _has_cause(change)]
    changed.sort(key=lambda key: _rank_total(judgements, key))
    chains = [
        chain
        for name in dict.fromkeys(name for name, _ in changed)
        if isinstance(chain := derive_steps(checked.package, checked.get_metric(name)), Chain)
        and not is_of_lowest(checked, chain, summary)
    ][:_MOST_TOTALS]
    if not chains:
        return {}
    rests = tuple(step.metric for chain in chains for step in chain.steps if not step.source)
    package = checked
    for chain in chains:
        package = add_steps(package, chain, [metric for metric in rests if metric in chain.metrics])
    metrics = tuple(dict.fromkeys(metric for chain in chains for metric in chain.requested))
    computation = calculate(package, Request(rests, judged=metrics))
    compared, calibration = split_calibration(computation)

    def summarize(run: RunResults) -> RunResults:
        return _summarize_cells(package, metrics, run, summary)

    versions = [replace(item, runs=tuple(map(summarize, item.runs))) for item in list_versions(compared.columns)]
    calibration_results = [summarize(item.results) for item in calibration]
    judged_versions = JudgedVersions(versions, summary, calibration_results)
    tables: dict[Key, StepTable] = {}
    for chain in chains:
        with contextlib.suppress(AssayError):  # a run lacks records of the steps
            _, judged = judge_steps(package, rules, chain, judged_versions)
            tables |= {(chain.name, table.version): table for table in judged}
    return {
        key: replace(table, total=replace(table.total, change=judgements.changes[key]))
        for key, table in tables.items()
        if key in changed
    }


def _summarize_cells(checked: CheckedPackage, metrics: Sequence[Metric], run: RunResults, summary: str) -> RunResults:
    """Return results with distributions of metrics that know no more than what cells say: size and average.

    A distribution takes longer to compute than cells, of which the engine computes those of a grain together.
    """
    distributions = {}
    for metric in metrics:
        if metric.id not in run.metrics and (rows := run.cells.get(metric.id)):
            average = float(measure_run(build_run_cells(checked, metric, rows, summary)).mean)
            size = sum(int(row["size"]) for row in rows)
            factor = Fraction(checked.measured[metric.id].factor)
            distributions[metric.id] = Distribution(
                size, {summary: average}, math.nan, {}, math.nan, math.nan, (), factor, integral=True
            )
    return replace(run, metrics={**run.metrics, **distributions})


def _rank_total(judgements: ReportJudgements, key: Key) -> tuple[bool, float, Key]:
    interval = judgements.changes[key].judgement.interval
    return key[0] not in judgements.gated, -interval.distance if interval else 0.0, key


def _has_cause(change: JudgedChange) -> bool:
    return change.judgement.is_certain and not change.is_by_itself and change.mix is None


def is_of_lowest(checked: CheckedPackage, chain: Chain, summary: str) -> bool:
    """Return whether the average of a total is over the hosts with the lowest averages: steps may have other ones."""
    lowest = next(item.lowest for item in checked.package.summaries if item.name == summary)
    return bool(chain.total.per and lowest)


def _check_run(chain: Chain, run: RunResults, name: str) -> None:
    """Raise AssayError unless a run has rows with all instants, and none in which a rest is below 0.

    Between hosts, whose clocks differ, a rest may be below 0 in some rows. A statistic must be the time of chosen rows.
    """
    if chain.statistic and _add_cells(run, chain.statistic) != _add_cells(run, chain.total):
        raise fail("no-steps", f"{chain.total.name} is not the time of one row of each group in {name}")
    for step in chain.steps:
        samples = run.metrics.get(step.metric.id)
        if samples is None or not samples.size or not run.cells.get(step.metric.id):
            raise fail(
                "no-steps",
                f"no row of {name} has all instants of the steps of {chain.total.name}",
                expected=", ".join((chain.steps[0].start, *(item.end for item in chain.steps))),
                hint="the records of these instants may be missing: `assay inspect RUN` counts them",
            )
        is_below = _add_cells(run, step.metric) < 0 if chain.statistic else samples.least < 0
        if not step.source and is_below:
            raise fail(
                "no-steps",
                f"no chain of metrics divides {chain.total.name}: `{step.end}` is not always after `{step.start}`",
                found=f"{samples.least:g} {chain.total.unit.symbol} in {name}",
                hint="add metrics of the steps between its two instants",
            )


def _average_runs(checked: CheckedPackage, metric: Metric, runs: Sequence[RunResults], summary: str) -> Fraction:
    """Return the exact mean of the averages of runs."""
    means = [measure_run(build_run_cells(checked, metric, run.cells[metric.id], summary)).mean for run in runs]
    return sum(means, Fraction(0)) / len(means)


def _add_cells(run: RunResults, metric: Metric) -> int:
    return sum(int(row["total"]) for row in run.cells[metric.id])


def _count_samples(metric: Metric, version: JudgedVersion) -> int:
    return sum(run.metrics[metric.id].size for run in version.runs)
