"""Check the steps that metrics declare: metrics of the same rows, each from where the one before it ends."""

from __future__ import annotations

from assay.lang.check.checker import Checker
from assay.lang.formula import is_formula
from assay.lang.model.package import Grain, Metric
from assay.lang.segments import is_segment
from assay.lang.step_chains import find_ends, index_declared_edges
from assay.util.diagnostics import suggest_names

_NO_CHAIN = "do not lead from its beginning to its end"
_NO_TIME = "divide no time"


def check_steps(checker: Checker) -> None:
    """Check that declared steps are times that lead from the beginning to the end of their total."""
    grains = {grain.name: grain for grain in checker.package.grains}
    for metric in checker.package.metrics:
        if metric.steps and not is_segment(metric.id):
            grain = grains.get(metric.grain)
            ends = find_ends(grain, metric) if grain and not is_formula(metric) and not metric.reduction else None
            if grain and ends:
                _check_metric(checker, metric, grain)
            else:
                _report(checker, metric, _NO_TIME, "a difference of two instants of a row, without a reduction")


def _check_metric(checker: Checker, total: Metric, grain: Grain) -> None:
    edges = {metric.id: pair for pair, metric in index_declared_edges(checker.package, grain, total).items()}
    times = [item.id for item in checker.package.metrics if item.grain == grain.name and find_ends(grain, item)]
    unknown = [name for name in total.steps if name not in edges]
    for name in unknown:
        message = f"step `{name}` of metric `{total.id}` is no time between two instants of grain `{grain.name}`"
        others = [item for item in times if item not in (total.id, name)]
        checker.report("steps", message, name, hint=suggest_names(name, others), within=(total.id,))
    ends = find_ends(grain, total)
    if unknown or ends is None:
        return
    begin, end = (str(item).removeprefix("instant ") for item in ends)
    place, where = begin, "the total begins"
    for name in total.steps:
        start, stop = (item.removeprefix("instant ") for item in edges[name])
        if start != place:
            _report(checker, total, _NO_CHAIN, f"`{name}` begins at `{place}`, where {where}", f"at `{start}`")
            return
        place, where = stop, f"`{name}` ends"
    if place != end:
        _report(checker, total, _NO_CHAIN, f"the last step ends at `{end}`, where the total ends", f"at `{place}`")


def _report(checker: Checker, total: Metric, problem: str, expected: str, actual: str = "") -> None:
    hint = "name the metrics of the steps in order, without a gap, or leave `steps` out"
    message = f"the `steps` of metric `{total.id}` {problem}"
    checker.report("steps", message, total.id, expected=expected, found=actual, hint=hint, field="steps")
