"""Find what was renamed without a change of meaning: metrics, formulas over them, and instants of grains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from assay.lang import definition_hash, plain_data
from assay.lang.model.expression import Expression
from assay.lang.model.filters import Condition
from assay.lang.model.package import Derived, Grain, Instant, Metric, Package, Runs, Worked

Names = Mapping[str, str]


def find_renames(old: Package, new: Package) -> dict[str, str]:
    """Map the id of each metric that is gone to that of a new one with the same meaning."""
    before, after = ({metric.id for metric in package.metrics} for package in (old, new))
    candidates = {_hash_meaning(new, metric): metric.id for metric in new.metrics if metric.id not in before}
    matches: dict[str, str] = {}
    pending = [metric.id for metric in old.metrics if metric.id not in after] if candidates else []
    while pending:
        renamed = rename_metrics(old, matches)
        keys = {metric.id: _hash_meaning(renamed, metric) for metric in renamed.metrics if metric.id in pending}
        new_matches = {name: now for name in pending if (now := candidates.pop(keys[name], ""))}
        if not new_matches:
            break
        matches |= new_matches  # formulas over these metrics may now be equal
        pending = [name for name in pending if name not in new_matches]
    return matches


def _hash_meaning(package: Package, metric: Metric) -> str:
    body = definition_hash.collect_definition(package, metric)
    body["metric"] = {name: value for name, value in body["metric"].items() if name != "id"}
    return definition_hash.hash_definition(body)


def rename_metrics(package: Package, names: Mapping[str, str]) -> Package:
    """Return the package with renamed metrics, also in formulas and their examples."""
    if not names:
        return package
    return replace(package, metrics=tuple(_rename_metric(metric, names) for metric in package.metrics))


def _rename_metric(metric: Metric, names: Mapping[str, str]) -> Metric:
    examples = tuple(_rename_in_example(item, names) for item in metric.examples)
    return replace(
        metric, id=names.get(metric.id, metric.id), measure=_rename_in_formula(metric.measure, names), examples=examples
    )


def _rename_in_formula(node: Expression, names: Mapping[str, str]) -> Expression:
    name = names.get(node.name, node.name) if node.op == "metric" else node.name
    return replace(node, name=name, operands=tuple(_rename_in_formula(operand, names) for operand in node.operands))


def _rename_in_example(item: Worked, names: Mapping[str, str]) -> Worked:
    inputs = tuple(replace(value, metric=names.get(value.metric, value.metric)) for value in item.inputs)
    return replace(item, inputs=inputs)


# Instants


def find_renamed_instants(old: Package, new: Package) -> dict[str, dict[str, str]]:
    """Return per grain a map from the name of each instant that is gone to that of an equal new one."""
    after = {grain.name: grain for grain in new.grains}
    matches = {
        grain.name: _match_instants(grain, after[grain.name].instants) for grain in old.grains if grain.name in after
    }
    return {name: names for name, names in matches.items() if names}


def _match_instants(grain: Grain, now: Sequence[Instant]) -> dict[str, str]:
    before = {item.name for item in grain.instants}
    candidates = {describe_pick(item): item.name for item in now if item.name not in before}
    pending = before - {item.name for item in now} if candidates else set()
    matches: dict[str, str] = {}
    while pending:
        pairs = zip(grain.instants, _rename_in_grain(grain, matches).instants, strict=True)
        keys = {was.name: describe_pick(item) for was, item in pairs if was.name in pending}
        new_matches = {name: same for name in sorted(pending) if (same := candidates.pop(keys[name], ""))}
        if not new_matches:
            break
        matches |= new_matches  # instants that refer to these may now be equal
        pending -= set(new_matches)
    return matches


def describe_pick(instant: Instant) -> str:
    """Return the definition of an instant without its name, as text."""
    return repr(plain_data.to_plain_data(replace(instant, name=""), prose=False))


def rename_instants(package: Package, names: Mapping[str, Names]) -> Package:
    """Return the package with renamed instants of grains, also in everything that refers to them."""
    if not names:
        return package

    def rename_in_condition(item: Condition) -> Condition:
        return replace(item, holds=_rename_in_expression(item.holds, names.get(item.grain, {})))

    return replace(
        package,
        grains=tuple(
            _rename_in_runs(_rename_in_grain(item, names.get(item.name, {})), names) for item in package.grains
        ),
        metrics=tuple(_rename_in_metric(item, names.get(item.grain, {})) for item in package.metrics),
        filters=tuple(
            replace(item, conditions=tuple(map(rename_in_condition, item.conditions))) for item in package.filters
        ),
    )


def _rename_in_grain(grain: Grain, names: Names) -> Grain:
    if not names:
        return grain

    def rename_instant(item: Instant) -> Instant:
        name, before = (names.get(text, text) for text in (item.name, item.before))
        value = _rename_in_expression(item.value, names) if item.value else None
        return replace(item, name=name, before=before, value=value)

    def rename_derived(item: Derived) -> Derived:
        return replace(item, value=_rename_in_expression(item.value, names))

    return replace(
        grain,
        instants=tuple(map(rename_instant, grain.instants)),
        derived=tuple(map(rename_derived, grain.derived)),
        at=names.get(grain.at, grain.at),
    )


def _rename_in_runs(grain: Grain, names: Mapping[str, Names]) -> Grain:
    """Rename instants in the condition of a grain of runs; it is about rows of the grain `runs.of`."""
    runs: Runs | None = grain.runs
    return (
        replace(grain, runs=replace(runs, holds=_rename_in_expression(runs.holds, names.get(runs.of, {}))))
        if runs
        else grain
    )


def _rename_in_metric(metric: Metric, names: Names) -> Metric:
    where = _rename_in_expression(metric.where, names) if metric.where else None
    return replace(metric, measure=_rename_in_expression(metric.measure, names), where=where)


def _rename_in_expression(node: Expression, names: Names) -> Expression:
    operands = tuple(_rename_in_expression(operand, names) for operand in node.operands)
    if node.op == "instant":
        return replace(node, name=names.get(node.name, node.name), operands=operands)
    if node.op == "taken":
        return replace(node, text=names.get(node.text, node.text), operands=operands)
    return replace(node, operands=operands)
