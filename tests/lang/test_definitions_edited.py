"""Test definition hashes after random edits: changed hashes are those in `diff`, equal hashes mean equal SQL and
inputs.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

import pytest

from assay.diff.specs import diff_packages
from assay.engine.compiled_plan import compile_statements
from assay.engine.graph import Node, build_nodes
from assay.lang import decode, plain_data
from assay.lang.check.check import check_package
from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import index_metrics, is_formula
from assay.lang.model.package import Metric, Package
from assay.lang.resolve import resolve_package
from assay.plan.planner import AppliedFilter, EventStep, build_plan
from assay.plan.request import Request
from assay.util.diagnostics import AssayError
from tests.support.laboratory import Laboratory
from tests.support.workspaces import NO_POSITIONS

#: parts of a package that definitions consist of
PARTS = ("sources", "events", "relations", "grains", "metrics", "filters", "series")
PROSE = {"doc", "message", "hint", "better", "width", "examples", "symbol"}
EDITS = 6  # per seed
SEEDS = 4
WORDS = (
    ("above", "at_least"), (">=", ">"), ("min(", "max("), ("first", "last"), ("sum(", "max("), ("LEFT", "INNER"),
    (" + ", " - "), ("ASC", "DESC"), ("second", "millisecond"), ("host", "hosts"), ("integer", "real"),
)  # fmt: skip
Path_ = tuple[str | int, ...]


def find_leaves(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Yield the paths of scalar values in plain data."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not isinstance(value, (dict, list)):
        yield path
    for key, inner in parts:
        yield from find_leaves(inner, (*path, key))


def is_documentation(path: Path_) -> bool:
    """Return whether a value is documentation, without influence on a number."""
    return bool(PROSE & set(path)) or (path[0], path[-1], len(path)) == ("metrics", "name", 3)


def edit(body: Mapping[str, Any], path: Path_, random: Random) -> Any:
    """Return plain data with another value at a path."""
    edited_body = copy.deepcopy(body)
    parent: Any = edited_body
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = _change_value(parent[path[-1]], random)
    return edited_body


def _change_value(value: Any, random: Random) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    numbers = list(re.finditer(r"(?<![\w.])\d+", value))
    words = [(old_word, new_word) for old_word, new_word in WORDS if old_word in value]
    if words and random.random() < 0.5:
        return value.replace(*random.choice(words), 1)
    if numbers:
        number = random.choice(numbers)
        return f"{value[: number.start()]}{int(number[0]) + 1}{value[number.end() :]}"
    return f"{value}2"


def decode_checked(body: Any) -> CheckedPackage | None:
    """Return the package of plain data, or None if the checker refuses it, or its SQL does not parse."""
    try:
        package = decode.decode_package(body, "edited", lenient=True)
        if check_package(package, NO_POSITIONS):
            return None
        checked = resolve_package(package, "")
        describe_computation(checked, checked.package.metrics)
        return checked
    except AssayError:
        return None


def describe_computation(checked: CheckedPackage, metrics: tuple[Metric, ...]) -> dict[str, object]:
    """Return how metrics are computed: statements with everything that they read, down to events and constants."""
    package = checked.package
    all_filters = [AppliedFilter(item, "1" if item.parameter else None) for item in package.filters]
    values = _describe_constants(package)
    results: dict[str, object] = {}
    for node in build_nodes(compile_statements(checked, build_plan(package, Request(tuple(metrics)), all_filters))):
        read_results = [results[name] for name in node.reads]
        results[node.name] = hash(
            repr(
                (
                    node.text,
                    _describe_records(package, node),
                    [values[name] for name in node.placeholders],
                    read_results,
                )
            )
        )
    metrics_by_name = index_metrics(package)

    def describe_metric(metric: Metric) -> object:
        if is_formula(metric):
            metric_operands = [item for item in metric.measure.walk() if item.op == "metric"]
            return metric.measure, [describe_metric(metrics_by_name[item.name]) for item in metric_operands]
        return results[metric.id], checked.measured[metric.id].factor, metric.per, metric.sampled_only

    return {metric.id: describe_metric(metric) for metric in metrics}


def _describe_records(package: Package, node: Node) -> object:
    """Return how the records of an event are recognized, and the fields that are read."""
    step = node.statement.step
    if not isinstance(step, EventStep):
        return None
    source = next(item for item in package.sources if item.name == step.event.source)
    fields = [
        (item.name, item.type, item.paths, item.default, item.required, item.transforms)
        for form in step.event.forms
        for item in form.fields
        if item.name in step.fields
    ]
    names = [(form.names, form.unless) for form in step.event.forms]
    return names, fields, source.kind, source.time, source.body, source.lookups, source.unwrap, source.time_form


def _describe_constants(package: Package) -> dict[str, object]:
    """Return each constant's path in a run, and its type."""
    all_constants = [item for source in package.sources for item in source.constants]
    return {item.name: (item.files, item.path, item.type, item.default) for item in all_constants}


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("system", ["antelope", "cardano", "cometbft"])
def test_edit_changes_hashes_of_affected_metrics_only(lab: Laboratory, system: str, seed: int) -> None:
    body = plain_data.to_plain_data(lab.session.load_package(system).package)
    old = decode_checked(copy.deepcopy(body))
    assert old
    before = describe_computation(old, old.package.metrics)
    random = Random(seed)
    places = [path for path in find_leaves(body) if path[0] in PARTS and not is_documentation(path)]
    edits = 0
    while edits < EDITS:
        new = decode_checked(edit(body, random.choice(places), random))
        if new is None or new.package == old.package or new.definitions.keys() != old.definitions.keys():
            continue
        edits += 1
        reported_metrics = {item.metric for item in diff_packages(old, new).metrics}
        changed_definitions = {name for name, digest in new.definitions.items() if digest != old.definitions[name]}
        assert changed_definitions <= reported_metrics
        after = describe_computation(new, new.package.metrics)
        for metric in new.package.metrics:
            if (
                metric.id not in changed_definitions and before[metric.id] != after[metric.id]
            ):  # computed with all others, or alone
                assert compute_alone(old, metric.id) == compute_alone(new, metric.id), metric.id


def compute_alone(checked: CheckedPackage, name: str) -> object:
    """Return how a metric is computed when it is the only one: tables have only its columns."""
    return describe_computation(checked, (checked.get_metric(name),))
