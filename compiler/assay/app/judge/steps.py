"""Judge the steps of a total: their exact averages in two versions, and the changes of these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from assay.app.judge.judging import JudgedVersion, StandardizedMetric, build_run_cells, judge_versions
from assay.engine.results import RunResults
from assay.judgement.batches import measure_run
from assay.judgement.gate import Key
from assay.judgement.report_judgements import ReportJudgements
from assay.judgement.steps import StepChange, StepTable, add_averages
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.lang.model.vocabulary import Judgement as Rules
from assay.lang.step_chains import Chain, Step
from assay.util.diagnostics import fail


def judge_steps(
    checked: CheckedPackage,
    rules: Rules,
    chain: Chain,
    versions: Sequence[JudgedVersion],
    summary: str,
    standardized: Mapping[Key, StandardizedMetric],
) -> tuple[ReportJudgements, tuple[StepTable, ...]]:
    """Return the judgements of a total and its steps, and a table for each version after the first.

    Raises AssayError if a run has no row with all instants, or some whose instants are in another order.
    """
    for version in versions:
        for run in version.runs:
            _check_run(chain, run, version.id)
    judgements = judge_versions(checked, rules, chain.metrics, versions, summary, standardized=standardized)

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


def _check_run(chain: Chain, run: RunResults, name: str) -> None:
    """Raise AssayError unless a run has rows with all instants, and none in which a rest is below 0."""
    for step in chain.steps:
        samples = run.metrics[step.metric.id]
        if not samples.size or not run.cells.get(step.metric.id):
            raise fail(
                "no-steps",
                f"no row of {name} has all instants of the steps of {chain.total.name}",
                expected=", ".join((chain.steps[0].start, *(item.end for item in chain.steps))),
                hint="the records of these instants may be missing: `assay inspect RUN` counts them",
            )
        if not step.source and samples.least < 0:
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
