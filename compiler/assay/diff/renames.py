"""What is called otherwise and means the same: metrics, formulas over them among these, and instants of grains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from assay.lang import normal_form
from assay.lang.model.expression import Expression
from assay.lang.model.package import Condition, Derived, Grain, Instant, Metric, Package, Runs, Worked

Names = Mapping[str, str]


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
    body = normal_form.collect_definition(package, metric)
    body["metric"] = {name: value for name, value in body["metric"].items() if name != "id"}
    return normal_form.hash_definition(body)


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


# Instants


def instants(old: Package, new: Package) -> dict[str, dict[str, str]]:
    """By grain, the name of each instant that is gone -> that of a new one which is found in the same way."""
    after = {grain.name: grain for grain in new.grains}
    found = {grain.name: _instants(grain, after[grain.name].instants) for grain in old.grains if grain.name in after}
    return {name: names for name, names in found.items() if names}


def _instants(grain: Grain, now: Sequence[Instant]) -> dict[str, str]:
    before = {item.name for item in grain.instants}
    candidates = {describe_pick(item): item.name for item in now if item.name not in before}
    left = before - {item.name for item in now} if candidates else set()
    found: dict[str, str] = {}
    while left:
        called = zip(grain.instants, _grain(grain, found).instants, strict=True)
        keys = {was.name: describe_pick(item) for was, item in called if was.name in left}
        more = {name: same for name in sorted(left) if (same := candidates.pop(keys[name], ""))}
        if not more:
            break
        found |= more  # and instants that are found by these may now be the same
        left -= set(more)
    return found


def describe_pick(instant: Instant) -> str:
    """How an instant is found, as a text."""
    return repr(normal_form.to_plain_data(replace(instant, name=""), prose=False))


def with_instants(package: Package, names: Mapping[str, Names]) -> Package:
    """The package with instants of grains, and what refers to them, by other names."""
    if not names:
        return package

    def condition(item: Condition) -> Condition:
        return replace(item, holds=_expression(item.holds, names.get(item.grain, {})))

    return replace(
        package,
        grains=tuple(_runs(_grain(item, names.get(item.name, {})), names) for item in package.grains),
        metrics=tuple(_measured(item, names.get(item.grain, {})) for item in package.metrics),
        filters=tuple(replace(item, conditions=tuple(map(condition, item.conditions))) for item in package.filters),
    )


def _grain(grain: Grain, names: Names) -> Grain:
    if not names:
        return grain

    def instant(item: Instant) -> Instant:
        name, before = (names.get(text, text) for text in (item.name, item.before))
        value = _expression(item.value, names) if item.value else None
        return replace(item, name=name, before=before, value=value)

    def derived(item: Derived) -> Derived:
        return replace(item, value=_expression(item.value, names))

    return replace(
        grain,
        instants=tuple(map(instant, grain.instants)),
        derived=tuple(map(derived, grain.derived)),
        at=names.get(grain.at, grain.at),
    )


def _runs(grain: Grain, names: Mapping[str, Names]) -> Grain:
    """A grain of runs of another, whose rows its condition is about."""
    runs: Runs | None = grain.runs
    return replace(grain, runs=replace(runs, holds=_expression(runs.holds, names.get(runs.of, {})))) if runs else grain


def _measured(metric: Metric, names: Names) -> Metric:
    where = _expression(metric.where, names) if metric.where else None
    return replace(metric, measure=_expression(metric.measure, names), where=where)


def _expression(node: Expression, names: Names) -> Expression:
    operands = tuple(_expression(operand, names) for operand in node.operands)
    if node.op == "instant":
        return replace(node, name=names.get(node.name, node.name), operands=operands)
    if node.op == "taken":
        return replace(node, text=names.get(node.text, node.text), operands=operands)
    return replace(node, operands=operands)
