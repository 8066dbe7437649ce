"""Judge the differences between the runs of a report: each metric of each run against the first run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from assay.engine.results import RunResults
from assay.judgement.batches import Cell, RunCells, Weighting, keep_lowest_clusters, measure_run
from assay.judgement.gate import assess_gate
from assay.judgement.interval import Reason, Version, compare
from assay.judgement.repeats import describe_noise
from assay.judgement.verdict import Direction, Judgement, Margin, judge
from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import is_formula
from assay.lang.model.package import Metric
from assay.lang.model.vocabulary import Judgement as Rules
from assay.lang.model.vocabulary import Margin as DeclaredMargin
from assay.lang.units import get_library
from assay.plan.planner import name_cells_statement
from assay.sql.cells import REAL_SCALE

CALIBRATION_RUNS = 0  # runs that show only how much runs differ cannot be passed yet


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """A run, or a phase of one, with its results."""

    id: str
    results: RunResults


def judge_runs(
    checked: CheckedPackage, rules: Rules, metrics: Sequence[Metric], runs: Sequence[JudgedRun], summary: str
) -> dict[str, object]:
    """Judge every run after the first, and return what `results.json` says of it."""
    level = float(rules.level)
    base, *others = runs
    judged: dict[tuple[str, str], tuple[Judgement, Margin]] = {}
    for metric in metrics:
        margin = _convert_margin(checked, metric, metric.margin or rules.margin)
        before = measure_version(checked, metric, base.results, summary)
        for run in others:
            after = measure_version(checked, metric, run.results, summary)
            judged[metric.id, run.id] = _judge_metric(checked, metric, (before, after), margin, level), margin
    gated_ids = _list_gated(rules, metrics)
    gate = assess_gate({key: item for key, (item, _) in judged.items() if key[0] in gated_ids}, True, level)
    adjusted = {item.key: item.adjusted for item in gate.metrics}
    return {
        "level": rules.level,
        "repeats": {"demanded": rules.repeats, "runs": [1] * len(runs), "calibration": CALIBRATION_RUNS},
        "noise": describe_noise(None, [1] * len(runs), CALIBRATION_RUNS),
        "gate": gated_ids,
        "metrics": {
            metric.id: {
                run.id: _build_data(*judged[metric.id, run.id], adjusted.get((metric.id, run.id)), level)
                for run in others
            }
            for metric in sorted(metrics, key=lambda item: item.id)
        },
    }


def _list_gated(rules: Rules, metrics: Sequence[Metric]) -> list[str]:
    """List the metrics of the gate that the report compares: those it names, else all that have a direction."""
    return [item.id for item in metrics if (item.id in rules.gate if rules.gate else item.better != "neither")]


def measure_version(checked: CheckedPackage, metric: Metric, results: RunResults, summary: str) -> Version:
    """Measure the average of a metric in a run, and by how much its cells move it.

    Metrics that have cells are in the unit of their measure, others in their own.
    """
    if is_formula(metric):
        average = results.formulas[metric.id].averages[summary]
        return Version(() if average is None else (Fraction(average),), reason=Reason.FORMULA)
    exact_average = results.metrics[metric.id].compute_exact_average(summary)
    rows = results.rows.get(name_cells_statement(metric.id))
    if exact_average is None:
        return Version((), reason=Reason.NO_SAMPLES)
    if rows is None:
        return Version((exact_average,))
    if not all(row["units"] and not row["lost"] for row in rows):
        reason = Reason.NO_TIME if any(not row["units"] for row in rows) else Reason.TOO_LARGE
        return Version((exact_average / checked.measured[metric.id].factor,), reason=reason)
    return Version.from_runs([measure_run(build_run_cells(checked, metric, rows, summary))])


def build_run_cells(
    checked: CheckedPackage, metric: Metric, rows: Sequence[Mapping[str, object]], summary: str
) -> RunCells:
    """Build the cells of a metric in a run from the rows of its statement, with the hosts that the summary keeps."""
    cells = tuple(
        Cell(_read_integer(row["place"]), str(row["cluster"]), _read_integer(row["total"]), _read_integer(row["size"]))
        for row in rows
    )
    scale = 1 if checked.measured[metric.id].integral else REAL_SCALE
    weighting = Weighting.PER_CLUSTER if metric.per else Weighting.POOLED
    run = RunCells(cells, _read_integer(rows[0]["units"]), scale, weighting)
    lowest = next(item.lowest for item in checked.package.summaries if item.name == summary)
    return keep_lowest_clusters(run, lowest) if metric.per and lowest else run


def _read_integer(value: object) -> int:
    assert isinstance(value, int)
    return value


def _judge_metric(
    checked: CheckedPackage, metric: Metric, versions: tuple[Version, Version], margin: Margin, level: float
) -> Judgement:
    comparison = compare(*versions)
    if not isinstance(comparison, Reason) and versions[0].runs:
        comparison = comparison.convert_to_unit(Fraction(checked.measured[metric.id].factor))
    return judge(comparison, margin, Direction(metric.better), level)


def _convert_margin(checked: CheckedPackage, metric: Metric, declared: DeclaredMargin) -> Margin:
    """Return a margin with its amount in the unit of the metric."""
    percent, amount = (float(text or "0") for text in (declared.percent, declared.amount))
    if amount and declared.unit.name != metric.unit.name:
        factor = get_library(tuple(unit.name for unit in checked.package.units)).compute_factor(
            declared.unit.name, metric.unit.name
        )
        amount = amount * factor.numerator / factor.denominator
    return Margin(percent, amount)


def _build_data(judgement: Judgement, margin: Margin, adjusted: float | None, level: float) -> dict[str, object]:
    """Return a judgement as plain data; numbers are null where there is no interval."""
    comparison, interval = judgement.comparison, judgement.interval
    difference = comparison.difference.compute_interval(level) if comparison else None
    return {
        "verdict": judgement.verdict.value,
        "reason": judgement.reason.value if judgement.reason else None,
        "better": judgement.direction.value,
        "difference": comparison.difference.value if comparison else None,
        "difference_low": difference.low if difference else None,
        "difference_high": difference.high if difference else None,
        "percent": comparison.percent.value if comparison else None,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "p": judgement.p,
        "p_margin": judgement.p_worse,
        "gate": adjusted,
        "margin": {"percent": margin.percent, "amount": margin.amount, "least": judgement.margin},
        "df": comparison.percent.df if comparison else None,
        "batches": comparison.spread.batches if comparison else None,
        "units": comparison.units if comparison else None,
        "decided_by": comparison.spread.decided_by.value if comparison else None,
        "notes": [note.value for note in comparison.spread.notes] if comparison else [],
    }
