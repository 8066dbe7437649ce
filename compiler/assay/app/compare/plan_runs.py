"""Plan how many runs of each version a report needs, from what earlier runs show of the noise of its metrics."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from assay.app.compare.compared_metrics import DEFAULT_RULES
from assay.app.compare.gate import list_all_gated
from assay.app.judge.judged_results import JudgedResults, read_judged_results
from assay.app.judge.judging import list_gated
from assay.app.session.session import Session
from assay.judgement.change import compute_log
from assay.judgement.noise import count_runs_to_detect
from assay.judgement.repeats import LEAST_DF, pool_variances
from assay.judgement.student_t import compute_quantile, floor_to_even
from assay.lang.model.package import Metric
from assay.lang.segments import is_segment
from assay.registry.history import HistoryScope, MetricHistory, MetricRules, compute_history
from assay.registry.store import list_runs, read_results
from assay.report.verdicts.recorded_change import RecordedChange
from assay.util.diagnostics import USAGE, fail

POWER = 0.8
_RUNS_OF_CONSTANT = 3  # of each version show that a constant changed, unless the metric is declared to be exact
_PERCENT = re.compile(r"(\d+(?:\.\d+)?) ?%")


@dataclass(frozen=True, slots=True)
class PlannedMetric:
    """How many runs of each version show a change of a gated metric.

    `deviation` is the standard deviation of one run in percent of the average, `is_least` whether only the noise within
    a run is known, so that it may be greater. `visible` is the change in percent that the known runs show. `runs` is
    None for more than 1000. `reason` says why nothing is known; the numbers are then None.
    """

    name: str
    deviation: float | None = None
    visible: float | None = None
    runs: int | None = None
    is_least: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RunPlan:
    """The plan of a report: its gated metrics, and which noise is known, as a sentence.

    `run_seconds` is the time of the longest known run; None if it is not known.
    """

    report: str
    change: float
    level: float
    metrics: tuple[PlannedMetric, ...]
    origin: str
    run_seconds: float | None = None

    @property
    def runs(self) -> int | None:
        """How many runs of each version show the change in all metrics of known noise; None if that is not known."""
        numbers = [item.runs for item in self.metrics if not item.reason]
        return None if None in numbers else max((item for item in numbers if item), default=None)


def parse_change(text: str) -> float:
    """Return a change in percent, such as `5%`. Raises AssayError (usage)."""
    match = _PERCENT.fullmatch(text.strip())
    if match is None or not float(match[1]):
        raise fail("bad-change", "the value of --detect is not a percentage above 0", status=USAGE,
                   expected="a decimal number with a percent sign, such as 5%", found=text)  # fmt: skip
    return float(match[1])


def plan_from_build(folder: Path, change: float) -> RunPlan:
    """Plan by the runs of a comparison. Raises AssayError for a build without judgements."""
    results = read_judged_results(folder)
    noisiest: dict[str, PlannedMetric] = {}
    for item in list_all_gated(results):
        planned = _plan_change(results, item, change)
        if item.metric not in noisiest or (planned.deviation or 0) > (noisiest[item.metric].deviation or 0):
            noisiest[item.metric] = planned
    return RunPlan(results.report, change, results.level, tuple(noisiest.values()), results.noise, results.longest_run)


def _plan_change(results: JudgedResults, item: RecordedChange, change: float) -> PlannedMetric:
    if item.reason and item.low is None:
        return PlannedMetric(item.name, reason=item.reason)
    if item.low is None or item.high is None or item.low <= -100:
        return PlannedMetric(item.name, reason="the base is 0" if item.is_from_zero else "its interval has no end")
    half = 50 * compute_log(Fraction(100 + item.high) / Fraction(100 + item.low))
    counts = results.repeats[0] or 1, min(results.repeats[1:], default=1) or 1
    if not half or not item.df:
        return PlannedMetric(item.name, 0.0, 0.0, min(*counts, _RUNS_OF_CONSTANT))
    error = half / compute_quantile((1 + results.level) / 2, floor_to_even(item.df))
    deviation = error / math.sqrt(1 / counts[0] + 1 / counts[1])
    is_least = sum(results.repeats) - len(results.repeats) < LEAST_DF and not results.calibration_runs
    return PlannedMetric(item.name, deviation, half, count_runs_to_detect(change, deviation, results.level), is_least)


def plan_from_records(session: Session, folder: Path, name: str, change: float) -> RunPlan:
    """Plan by the recorded runs of a report: their averages since the last level shift. Raises AssayError."""
    checked, report = session.find_report_of_runs(name)
    rules = report.judgement or DEFAULT_RULES
    listed = dict.fromkeys(item for item in report.compared_metrics if not is_segment(item))
    gated = list_gated(rules, [checked.get_metric(item) for item in (*listed, *rules.gate) if not is_segment(item)])
    recorded, runs = read_results(folder), list_runs(folder)
    of_report = [item for item in recorded if item.content.report == f"{checked.package.system}/{report.name}"]
    if not of_report:
        raise fail("no-results", f"no run has recorded results of `{name}`: {folder}", status=USAGE,
                   hint="`assay build` with --results records some; or pass the folder of a build")  # fmt: skip
    metrics, counts = [], set[int]()
    for metric in map(checked.get_metric, dict.fromkeys(gated)):
        if not any(metric.id in item.content.metrics for item in of_report):
            metrics.append(PlannedMetric(metric.name, reason="no recorded run has it"))
            continue
        definition = MetricRules(checked.definitions[metric.id])
        history = compute_history(
            of_report, runs, metric.id, scope=HistoryScope(checked.package.system), rules=definition
        )
        values = _list_latest_values(history)
        counts.add(len(values))
        metrics.append(_plan_values(metric, values, change, float(rules.level)))
    number = f"{min(counts)} to {max(counts)}" if len(counts) > 1 else str(max(counts, default=0))
    origin = f"The noise is that of {number} recorded runs since the last level shift."
    return RunPlan(name, change, float(rules.level), tuple(metrics), origin)


def _list_latest_values(history: MetricHistory) -> list[Fraction]:
    """Return the averages of comparable runs since the last level shift, without those that stand out."""
    comparable = [item for item in history.points if item.value is not None and not item.differences]
    start = comparable.index(history.shifts[-1].point) if history.shifts else 0
    usual = [item for item in comparable[start:] if item not in history.strays]
    return [Fraction(item.value) for item in usual if item.value is not None]


def _plan_values(metric: Metric, values: Sequence[Fraction], change: float, level: float) -> PlannedMetric:
    name = metric.name
    noise = pool_variances([values])
    mean = sum(values, Fraction(0)) / max(1, len(values))
    if noise is None:
        return PlannedMetric(name, reason="fewer than 3 recorded runs are comparable")
    if not mean:
        return PlannedMetric(name, reason="its average is 0")
    deviation = 100 * math.sqrt(noise.variance) / abs(float(mean))
    if not deviation:
        return PlannedMetric(name, 0.0, 0.0, 1 if metric.exact else _RUNS_OF_CONSTANT)
    reach = compute_quantile((1 + level) / 2, floor_to_even(noise.df)) * deviation * math.sqrt(2)
    return PlannedMetric(name, deviation, reach, count_runs_to_detect(change, deviation, level))
