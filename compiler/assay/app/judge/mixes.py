"""Find metrics whose samples are of other values in the compared versions, and measure what these have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from assay.app.compute.computation import Computation
from assay.app.compute.splitting import read_values
from assay.app.judge.judging import JudgedVersion, StandardizedMetric, measure_version
from assay.app.judge.repeats import list_versions, split_calibration
from assay.judgement.gate import Key
from assay.judgement.interval import Version
from assay.judgement.mix import Mix, compare_mix, standardize
from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import is_formula
from assay.lang.model.package import Metric
from assay.lang.outcome_dimensions import add_outcome_dimensions
from assay.lang.segments import Split, Values, add_segments, is_segment, list_dimensions, name_segment
from assay.plan.request import Request
from assay.plan.value_request import ValueRequest

LEAST_FURTHER = 0.01
"""The share of samples by which versions must differ more in two dimensions than in one."""
MOST_VALUES = 100
"""How many values a dimension may have: more are names of single things, such as requests."""

Calculate = Callable[[CheckedPackage, Request], Computation]
"""Computes what is requested with the metrics of a package over the compared runs."""


def standardize_metrics(
    checked: CheckedPackage, metrics: Sequence[Metric], summary: str, calculate: Calculate
) -> dict[Key, StandardizedMetric]:
    """Return the metrics whose samples have other values of a dimension in a version than in the base."""
    checked = add_outcome_dimensions(checked, metrics)
    requests = {
        metric.id: [ValueRequest(metric, (name,)) for name in _list_dimensions(checked, metric)]
        for metric in metrics
        if not is_formula(metric) and not is_segment(metric.id)
    }
    listed = [request for items in requests.values() for request in items]
    if not listed:
        return {}

    def count(items: Sequence[ValueRequest]) -> list[JudgedVersion]:
        return _list_versions(calculate(checked, Request(tuple(metrics), values=tuple(items))))

    base, *others = count(listed)
    requests = {
        name: [item for item in items if not _is_decided(item, (base, *others))] for name, items in requests.items()
    }
    mixes = {
        (name, other.id): mix
        for name, items in requests.items()
        for other in others
        if (mix := _find_mix(items, base, other))
    }
    if not mixes:
        return {}
    pairs = {key: _pair_dimensions(requests[key[0]], mix) for key, mix in mixes.items()}
    joint = list(dict.fromkeys(request for items in pairs.values() for request in items))
    counted = {item.id: item for item in count(joint)} if joint else {}
    for key, items in pairs.items():
        if items and (further := _find_further_mix(items, counted[base.id], counted[key[1]], mixes[key])):
            mixes[key] = further
    pooled = {metric.id for metric in metrics if not metric.reduction and not metric.per}
    splits = [Split((name,), mix.dimensions, tuple(mix.counts)) for (name, _), mix in mixes.items() if name in pooled]
    if not any(split.values for split in splits):
        return {key: StandardizedMetric(mix, None) for key, mix in mixes.items()}
    package = add_segments(checked, splits)
    parts = tuple(package.get_metric(name) for name in dict.fromkeys(_list_segments(splits)))
    versions = {item.id: item for item in _list_versions(calculate(package, Request(parts, judged=parts)))}

    def measure(name: str, mix: Mix, *compared: JudgedVersion) -> tuple[Version, Version]:
        parts = []
        for values, weight in mix.weights.items():
            segment = package.get_metric(name_segment(name, mix.dimensions, values))
            measured = [measure_version(package, segment, version.runs, summary) for version in compared]
            parts.append((weight, measured))
        one, two = standardize(parts)
        return one, two

    return {
        (name, other): StandardizedMetric(
            mix, measure(name, mix, versions[base.id], versions[other]) if name in pooled and mix.counts else None
        )
        for (name, other), mix in mixes.items()
    }


def _list_dimensions(checked: CheckedPackage, metric: Metric) -> list[str]:
    """Return the dimensions of a metric without that of the host: hosts are compared by their names."""
    cluster = next(grain.cluster for grain in checked.package.grains if grain.name == metric.grain)
    return [name for name in list_dimensions(checked.package, metric) if name != cluster]


def _list_segments(splits: Sequence[Split]) -> Iterator[str]:
    for split in splits:
        yield from split.list_segments(split.metrics[0])


def _list_versions(computation: Computation) -> list[JudgedVersion]:
    compared, _ = split_calibration(computation)
    return list_versions(compared.columns)


def _pair_dimensions(requests: Sequence[ValueRequest], mix: Mix) -> list[ValueRequest]:
    """Return requests for the dimension of a mix with each other one."""
    (first,) = (request for request in requests if request.by == mix.dimensions)
    return [ValueRequest(first.metric, (*first.by, *item.by)) for item in requests if item is not first]


def _find_further_mix(pairs: Sequence[ValueRequest], base: JudgedVersion, other: JudgedVersion, mix: Mix) -> Mix | None:
    """Return how samples differ in a second dimension, too, if those of the common values of the first one do."""
    mixes: list[tuple[float, Mix]] = []
    for request in pairs:
        counts = [_count_values(request, version) for version in (base, other)]
        rest = [{values: count for values, count in items.items() if values[:1] in mix.counts} for items in counts]
        runs = len(base.runs), len(other.runs)
        remaining = compare_mix(request.by, rest[0], rest[1], runs) if all(rest) and _are_few(counts) else None
        is_further = remaining is not None and remaining.difference > mix.shift + LEAST_FURTHER
        if remaining and is_further and (whole := compare_mix(request.by, counts[0], counts[1], runs)):
            mixes.append((remaining.difference, whole))
    return max(mixes, key=lambda item: item[0], default=(0.0, None))[1]


def _is_decided(request: ValueRequest, versions: Sequence[JudgedVersion]) -> bool:
    """Return whether a metric is a share of rows that a dimension decides, such as that of failures by their status.

    Then the dimension is what the metric measures: among common values, no share changes.
    """
    ends = [
        {row[name] for name in request.end_names}
        for version in versions for run in version.runs for row in run.rows[request.name]
    ]  # fmt: skip
    values = set().union(*ends)
    has_two = 0 in values and len(values) == 2
    return request.metric.unit.symbol in ("", "%") and has_two and all(len(items) == 1 for items in ends)


def _are_few(counts: Sequence[Counter[Values]]) -> bool:
    return all(0 < len(items) <= MOST_VALUES for items in counts)


def _find_mix(requests: Sequence[ValueRequest], base: JudgedVersion, other: JudgedVersion) -> Mix | None:
    """Return how samples differ in those dimensions in which most of them do; None if they do in none."""
    mixes = []
    for request in requests:
        counts = [_count_values(request, version) for version in (base, other)]
        if _are_few(counts):
            mixes.append(compare_mix(request.by, counts[0], counts[1], (len(base.runs), len(other.runs))))
    return max((mix for mix in mixes if mix), key=lambda mix: mix.difference, default=None)


def _count_values(request: ValueRequest, version: JudgedVersion) -> Counter[Values]:
    """Return the number of samples of each value in all runs of a version."""
    counts: Counter[Values] = Counter()
    for run in version.runs:
        for row in run.rows[request.name]:
            counts[read_values(row, request.by)] += int(str(row[request.count_name]))
    return counts
