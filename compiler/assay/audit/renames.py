"""Metrics that are called otherwise and mean the same, formulas over them among these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from assay.spec import normal_form
from assay.spec.expression import Expression
from assay.spec.model import Metric, Package, Worked


def renames(old: Package, new: Package) -> dict[str, str]:
    """Id of each metric that is gone -> that of a new one which means the same."""
    before, after = ({metric.id for metric in package.metrics} for package in (old, new))
    candidates = {_key(new, metric): metric.id for metric in new.metrics if metric.id not in before}
    found: dict[str, str] = {}
    left = [metric.id for metric in old.metrics if metric.id not in after] if candidates else []
    while left:
        called = as_called(old, found)
        keys = {metric.id: _key(called, metric) for metric in called.metrics if metric.id in left}
        more = {name: now for name in left if (now := candidates.pop(keys[name], ""))}
        if not more:
            break
        found |= more  # and formulas over these may now be the same
        left = [name for name in left if name not in more]
    return found


def _key(package: Package, metric: Metric) -> str:
    body = normal_form.definition(package, metric)
    body["metric"] = {name: value for name, value in body["metric"].items() if name != "id"}
    return normal_form.definition_hash(body)


def as_called(package: Package, names: Mapping[str, str]) -> Package:
    """The package with metrics, and what formulas and their examples call them, by other names."""
    if not names:
        return package
    return replace(package, metrics=tuple(_metric(metric, names) for metric in package.metrics))


def _metric(metric: Metric, names: Mapping[str, str]) -> Metric:
    examples = tuple(_example(item, names) for item in metric.examples)
    return replace(
        metric, id=names.get(metric.id, metric.id), measure=_measure(metric.measure, names), examples=examples
    )


def _measure(node: Expression, names: Mapping[str, str]) -> Expression:
    name = names.get(node.name, node.name) if node.op == "metric" else node.name
    return replace(node, name=name, operands=tuple(_measure(operand, names) for operand in node.operands))


def _example(item: Worked, names: Mapping[str, str]) -> Worked:
    given = tuple(replace(given, metric=names.get(given.metric, given.metric)) for given in item.given)
    return replace(item, given=given)
