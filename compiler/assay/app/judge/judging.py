"""Judge the differences between the versions of a report: each metric of each version against the first."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from assay.app.judge.run_quantiles import read_quantiles
from assay.engine.results import Distribution, RunResults
from assay.judgement.batches import (
    LEAST_UNITS,
    Cell,
    RunCells,
    Weighting,
    combine_influences,
    keep_lowest_clusters,
    measure_run,
)
from assay.judgement.discoveries import select_discoveries
from assay.judgement.gate import Key, assess_gate
from assay.judgement.interval import Component, Reason, Version, compare
from assay.judgement.mix import Mix
from assay.judgement.paired_segments import FEW_SAMPLES, SegmentPair, pair_segments
from assay.judgement.repeats import can_measure_noise, describe_noise, pool_variances
from assay.judgement.report_judgements import JudgedChange, ReportJudgements
from assay.judgement.tails import JUDGED as QUANTILES
from assay.judgement.tails import TailRule, judge_tails, judge_tails_of_repeats
from assay.judgement.verdict import Direction, Verdict, judge, withdraw_verdict
from assay.lang.breaks import list_crossed_breaks
from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import index_metrics, is_formula, list_measured
from assay.lang.model.package import Metric
from assay.lang.model.vocabulary import Judgement as Rules
from assay.lang.segments import get_whole, is_pooled, is_segment, list_dimensions_of_segment
from assay.report.declared_margin import convert_margin, get_whole_of_share
from assay.report.verdicts.recorded_change import build_change_data

_MOST_ROUNDED = Fraction(1, 10_000)


@dataclass(frozen=True, slots=True)
class StandardizedMetric:
    """How the samples of a metric differ between two versions, and its averages over the values that both have.

    `versions` are None if there are no such averages: no value is common, or the metric is no average of all samples.
    """

    mix: Mix
    versions: tuple[Version, Version] | None


@dataclass(frozen=True, slots=True)
class JudgedVersion:
    """A version, or a phase of one, with the results of its runs and their days (empty: not known)."""

    id: str
    runs: tuple[RunResults, ...]
    days: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgedVersions:
    """The versions that are judged, the first of which is the base, by a summary.

    `calibration` are runs of any one version: with repeats, they show how much runs of one version differ.
    `standardized` are metrics whose samples are of other things in a version than in the base.
    """

    versions: Sequence[JudgedVersion]
    summary: str
    calibration: Sequence[RunResults] = ()
    standardized: Mapping[Key, StandardizedMetric] = field(default_factory=dict)


def judge_versions(
    checked: CheckedPackage, rules: Rules, metrics: Sequence[Metric], judged: JudgedVersions
) -> ReportJudgements:
    """Judge every version after the first."""
    versions, summary, calibration = judged.versions, judged.summary, judged.calibration
    level = float(rules.level)
    changes: dict[Key, JudgedChange] = {}
    means: dict[Key, tuple[Fraction, Fraction]] = {}
    for metric in metrics:
        margin = convert_margin(checked, metric, metric.margin or rules.margin)
        measured = [measure_version(checked, metric, version.runs, summary) for version in versions]
        calibrated = measure_version(checked, metric, calibration, summary)
        noise = pool_variances([*(version.estimates for version in measured), calibrated.estimates])
        for version, other in zip(versions[1:], measured[1:], strict=True):
            compared, pair_noise = (measured[0], other), noise
            reason = find_refusal(checked, metric, versions[0], version) or _find_lost_samples(
                measured[0], other, len(versions[0].runs) + len(version.runs)
            )
            if mixed := judged.standardized.get((metric.id, version.id)):
                compared = mixed.versions or compared
                reason = reason or (None if mixed.versions else Reason.OTHER_VALUES)
                pair_noise = pool_variances([item.estimates for item in compared])
            share = get_whole_of_share(metric)
            comparison = reason or compare(*compared, pair_noise, is_exact=metric.exact, whole=share)
            judgement = judge(comparison, margin, Direction(metric.better), level)
            if judgement.comparison and _differ_in_lost_records(metric, (*versions[0].runs, *version.runs)):
                judgement = withdraw_verdict(judgement)
            change = JudgedChange(judgement, margin, mix=mixed.mix if mixed else None)
            if not is_formula(metric):
                base_size, size = (
                    sum(run.metrics[metric.id].size for run in item.runs) for item in (versions[0], version)
                )
                change = replace(change, sizes=(base_size, size))
            changes[metric.id, version.id] = change
            if measured[0].estimates and other.estimates:
                means[metric.id, version.id] = measured[0].mean, other.mean
                averages = float(measured[0].mean), float(other.mean)
                changes[metric.id, version.id] = replace(changes[metric.id, version.id], averages=averages)
    changes |= _pair_all_segments(changes, means, level)
    gated = list_gated(rules, metrics)
    gate = assess_gate({key: item.judgement for key, item in changes.items() if key[0] in gated}, level)
    changes |= {item.key: replace(changes[item.key], adjusted=item.adjusted) for item in gate}
    changes = _add_tails(checked, changes, versions, level, len(gate))
    changes = mark_changes_by_chance(changes, level)
    runs = tuple(len(version.runs) for version in versions)
    sentence = describe_noise(can_measure_noise(runs, len(calibration)), runs, len(calibration))
    return ReportJudgements(level, runs, rules.repeats, len(calibration), sentence, gated, changes, versions[0].id)


def _add_tails(
    checked: CheckedPackage,
    changes: Mapping[Key, JudgedChange],
    versions: Sequence[JudgedVersion],
    level: float,
    gated: int,
) -> dict[Key, JudgedChange]:
    """Return changes with the quantiles that changed beyond the margin, if versions have like samples.

    Intervals are from batches of time, or from repeats: they do not hold what hosts, or single runs, vary by.
    """
    by_id = {version.id: version for version in versions}
    added = {}
    for (name, other), change in changes.items():
        compared = versions[0], by_id[other]
        metric = checked.get_metric(name)
        added[name, other] = change
        if is_formula(metric) or change.mix or change.judgement.verdict is Verdict.DATA_LOST:
            continue
        comparison, direction = change.judgement.comparison, change.judgement.direction
        has_repeats = can_measure_noise([len(version.runs) for version in compared], 0)
        decided_by = (Component.TIME, Component.RUNS) if has_repeats else (Component.TIME,)
        if comparison is None or comparison.spread.decided_by not in decided_by:
            continue
        if comparison.spread.reason is Reason.FEWER_HOSTS:
            continue
        base, value = ([read_quantiles(checked, metric, run) for run in version.runs] for version in compared)
        bases, values = ([item for item in items if item] for items in (base, value))
        if len(bases) < len(base) or len(values) < len(value):
            continue
        rule = TailRule(change.margin, direction, level, gated)
        if has_repeats:
            tails = judge_tails_of_repeats(bases, values, rule)
        elif len(bases) == len(values) == 1:
            tails = judge_tails(bases[0], values[0], rule)
        else:
            continue
        added[name, other] = replace(change, tails=tails, has_quantiles=True)
    return added


def mark_changes_by_chance(changes: Mapping[Key, JudgedChange], level: float) -> dict[Key, JudgedChange]:
    """Return changes that say which verdicts and quantiles chance may make of so many, and which changes are equal.

    The averages of whole metrics, segments, and quantiles of a version are a family each.
    """
    families: dict[tuple[str, bool, bool], dict[tuple[Key, Fraction | None], tuple[Hashable, float]]] = {}
    for key, change in changes.items():
        name, version = key
        judgement = change.judgement
        if judgement.comparison and judgement.p_beyond is not None:
            subject = judgement.comparison.base, judgement.comparison.value, judgement.interval
            families.setdefault((version, is_segment(name), False), {})[key, None] = subject, judgement.p_beyond
        for share in QUANTILES if change.has_quantiles else ():
            p = next((item.p for item in change.tails if item.share == share), 1.0)
            families.setdefault((version, is_segment(name), True), {})[key, share] = (change.averages, share), p
    selected: frozenset[tuple[Key, Fraction | None]] = frozenset().union(
        *(select_discoveries(family, 1 - level) for family in families.values())
    )
    marked = {
        key: replace(
            change,
            is_by_itself=change.judgement.is_certain and (key, None) not in selected,
            tails=tuple(replace(item, is_by_itself=(key, item.share) not in selected) for item in change.tails),
        )
        for key, change in changes.items()
    }
    return mark_equal_changes(marked)


def mark_equal_changes(changes: Mapping[Key, JudgedChange]) -> dict[Key, JudgedChange]:
    """Return changes that name the first metric with the same averages, interval and verdict, if there are several.

    Exact values, such as counters that are always 0, are equal by chance; segments count for themselves.
    """
    groups: dict[Hashable, list[str]] = {}
    subjects: dict[Key, Hashable] = {}
    for (name, version), change in changes.items():
        judgement, interval = change.judgement, change.judgement.interval
        if judgement.comparison and interval and interval.low < interval.high and not is_segment(name):
            averages = judgement.comparison.base, judgement.comparison.value
            subject = version, averages, interval, judgement.verdict, judgement.direction
            subjects[name, version] = subject
            groups.setdefault(subject, []).append(name)
    return {
        key: replace(change, equal_to=groups[subjects[key]][0])
        if key in subjects and len(groups[subjects[key]]) > 1 else change
        for key, change in changes.items()
    }  # fmt: skip


def find_refusal(checked: CheckedPackage, metric: Metric, base: JudgedVersion, version: JudgedVersion) -> Reason | None:
    """Return why two versions of a metric, or of the metric that it is a segment of, cannot be judged, if so."""
    whole = get_whole(metric.id)
    if list_crossed_breaks(checked.get_metric(whole), (*base.days, *version.days)):
        return Reason.BREAK
    runs = (*base.runs, *version.runs)
    if any({metric.id, whole} & run.bounded for run in runs):
        return Reason.ABOVE_BOUNDS
    return Reason.IMPOSSIBLE if any(whole in run.impossible for run in runs) else None


def _find_lost_samples(base: Version, other: Version, runs: int) -> Reason | None:
    """Return that some, but not all, of so many runs have no samples."""
    return Reason.LOST_SAMPLES if 0 < len(base.estimates) + len(other.estimates) < runs else None


def _differ_in_lost_records(metric: Metric, runs: Sequence[RunResults]) -> bool:
    """Return whether records that a metric reads are missing from some runs, but not in the same way from all."""
    whole = get_whole(metric.id)
    return len({frozenset(code for code, name in run.lost_records if name == whole) for run in runs}) > 1


def _pair_all_segments(
    changes: Mapping[Key, JudgedChange], means: Mapping[Key, tuple[Fraction, Fraction]], level: float
) -> dict[Key, JudgedChange]:
    """Return the changes of metrics whose segments have too few samples each, with what these show together.

    Of several splits, that into the most segments counts.
    """
    splits: dict[tuple[Key, tuple[str, ...]], list[tuple[Key, JudgedChange]]] = {}
    for (name, version), change in changes.items():
        if is_segment(name) and not is_pooled(name):
            split = (get_whole(name), version), list_dimensions_of_segment(name)
            splits.setdefault(split, []).append(((name, version), change))
    paired: dict[Key, JudgedChange] = {}
    for (key, _), segments in splits.items():
        if key not in changes or changes[key].mix:
            continue
        if any(change.judgement.reason not in FEW_SAMPLES for _, change in segments):
            continue
        whole = paired.get(key, changes[key])
        pairs = [SegmentPair(item[0], *means[item], change.sizes) for item, change in segments
                 if change.sizes and min(means.get(item, (0,))) > 0]  # fmt: skip
        group = pair_segments(pairs, whole.margin, level)
        if group and group.count > (whole.paired.count if whole.paired else 0):
            paired[key] = replace(whole, paired=group)
    return paired


def build_judgement_data(judgements: ReportJudgements) -> dict[str, object]:
    """Return judgements as the member `judgement` of `results.json`."""
    metrics: dict[str, dict[str, object]] = {}
    for (metric, version), change in sorted(judgements.changes.items()):
        metrics.setdefault(metric, {})[version] = build_change_data(metric, change, judgements.level)
    return {
        "level": f"{judgements.level:g}",
        "repeats": {
            "demanded": judgements.demanded,
            "runs": list(judgements.runs),
            "calibration": judgements.calibration,
        },
        "noise": judgements.noise,
        "gate": list(judgements.gated),
        "metrics": metrics,
    }


def list_gated(rules: Rules, metrics: Sequence[Metric]) -> tuple[str, ...]:
    """List the compared metrics that the gate names, or all those with a direction if it names none.

    Segments are left out: they are parts of a metric in the gate, and the data decide which of them exist.
    """
    directed = (item.id for item in metrics if item.better != "neither" and not is_segment(item.id))
    return tuple(item.id for item in metrics if item.id in rules.gate) if rules.gate else tuple(directed)


def measure_version(checked: CheckedPackage, metric: Metric, runs: Sequence[RunResults], summary: str) -> Version:
    """Measure the averages of a metric in the runs of a version, in its unit, and by how much its cells move them."""
    if is_formula(metric):
        return _measure_formula(checked, metric, runs, summary)
    averages_of_runs = [run.metrics[metric.id].compute_exact_average(summary) for run in runs]
    estimates = tuple(item for item in averages_of_runs if item is not None)
    is_constant = all(_is_constant(run.metrics[metric.id], summary) for run in runs)
    rows = [run.cells.get(metric.id) for run in runs]
    if len(estimates) < len(runs):
        return Version(estimates, reason=Reason.LOST_SAMPLES if estimates else Reason.NO_SAMPLES)
    tables = [item for item in rows if item is not None]
    if len(tables) < len(runs) or any(not row["units"] for table in tables for row in table):
        return Version(estimates, is_constant=is_constant)
    if any(row["lost"] for table in tables for row in table):
        return Version(estimates, reason=Reason.TOO_LARGE)
    measured_runs = [measure_run(build_run_cells(checked, metric, table, summary)) for table in tables]
    if any(_is_rounded_off(average, run.mean) for average, run in zip(estimates, measured_runs, strict=True)):
        return Version(estimates, reason=Reason.TOO_SMALL)
    if metric.per and not has_clusters(checked, metric):
        measured_runs = [replace(run, by_cluster={}) for run in measured_runs]
    return replace(Version.from_runs(measured_runs), is_constant=is_constant)


def _measure_formula(checked: CheckedPackage, metric: Metric, runs: Sequence[RunResults], summary: str) -> Version:
    """Measure the values of a formula in the runs of a version, and by how much the cells of its inputs move them.

    The cells of inputs belong together if they are of one grain.
    """
    averages = [run.formulas[metric.id].averages[summary] for run in runs]
    estimates = tuple(Fraction(item) for item in averages if item is not None)
    unknown = Version(estimates, reason=Reason.FORMULA)
    inputs = list_measured(index_metrics(checked.package), [metric])
    slopes = [run.formulas[metric.id].slopes.get(summary) or {} for run in runs]
    names = {*slopes[0]} if slopes else set()
    if len(estimates) < len(runs) or not names or any({*item} != names for item in slopes):
        return unknown
    measured = [(item, measure_version(checked, item, runs, summary)) for item in inputs if item.id in names]
    if len({item.grain for item, _ in measured}) > 1 or not all(version.runs for _, version in measured):
        return unknown
    is_signed = any(node.op == "minus" for node in metric.measure.walk())
    combined = [
        combine_influences(
            estimate, [(slopes[index][item.id], version.runs[index]) for item, version in measured], is_signed=is_signed
        )
        for index, estimate in enumerate(estimates)
    ]
    influences = [item for item in combined if item is not None]
    if len(influences) < len(runs):
        return unknown
    return replace(Version.from_runs(influences), is_constant=all(version.is_constant for _, version in measured))


def _is_rounded_off(average: Fraction, counted: Fraction) -> bool:
    """Return whether the decimals that count in judgements change an average by more than verdicts may ignore."""
    return abs(counted - average) > _MOST_ROUNDED * abs(average)


def has_clusters(checked: CheckedPackage, metric: Metric) -> bool:
    """Return whether the values of `per` are some of many, such as hosts, which the clusters of its grain declare.

    Others, such as the experiments of a run, are conditions: their differences are no noise.
    """
    return next(grain.cluster for grain in checked.package.grains if grain.name == metric.grain) == metric.per


def _is_constant(samples: Distribution, summary: str) -> bool:
    """Return whether a run has enough samples for a judgement, and all are equal, also those that hosts lack."""
    if samples.size < LEAST_UNITS or samples.least != samples.greatest:
        return False
    average = samples.compute_exact_average(summary)
    return average is not None and math.isclose(average, samples.least, rel_tol=1e-12)


def build_run_cells(
    checked: CheckedPackage, metric: Metric, rows: Sequence[Mapping[str, object]], summary: str
) -> RunCells:
    """Build the cells of a metric in a run from the rows of its statement, with the hosts that the summary keeps."""
    factor = Fraction(checked.measured[metric.id].factor)
    cells = tuple(
        Cell(
            _read_integer(row["place"]),
            str(row["cluster"]),
            _read_integer(row["total"]) * factor.numerator,
            _read_integer(row["size"]),
        )
        for row in rows
    )
    scale = factor.denominator * 10 ** checked.measured[metric.id].decimals
    weighting = Weighting.PER_CLUSTER if metric.per else Weighting.POOLED
    run = RunCells(cells, _read_integer(rows[0]["units"]), scale, weighting)
    lowest = next(item.lowest for item in checked.package.summaries if item.name == summary)
    return keep_lowest_clusters(run, lowest) if metric.per and lowest else run


def _read_integer(value: object) -> int:
    assert isinstance(value, int)
    return value
