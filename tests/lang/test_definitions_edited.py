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

from assay.diff.specs import diff
from assay.engine.compiled_plan import compile_statements
from assay.engine.graph import Node, nodes
from assay.lang import checked_package, decode, plain_data
from assay.lang.check.check import check
from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import index_metrics, is_formula
from assay.lang.model.package import Metric, Package
from assay.plan.planner import AppliedFilter, EventStep, plan
from assay.util.diagnostics import AssayError
from tests.support.laboratory import Laboratory
from tests.support.workspaces import NOWHERE

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
    """Tell whether a value is documentation, without influence on a number."""
    return bool(PROSE & set(path)) or (path[0], path[-1], len(path)) == ("metrics", "name", 3)


def edit(body: Mapping[str, Any], path: Path_, random: Random) -> Any:
    """Return plain data with another value at a path."""
    copied = copy.deepcopy(body)
    at: Any = copied
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = _other(at[path[-1]], random)
    return copied


def _other(value: Any, random: Random) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    numbers = list(re.finditer(r"(?<![\w.])\d+", value))
    words = [(was, now) for was, now in WORDS if was in value]
    if words and random.random() < 0.5:
        return value.replace(*random.choice(words), 1)
    if numbers:
        number = random.choice(numbers)
        return f"{value[: number.start()]}{int(number[0]) + 1}{value[number.end() :]}"
    return f"{value}2"


def decode_checked(body: Any) -> CheckedPackage | None:
    """Return the package of plain data, or None if the checker refuses it."""
    try:
        package = decode.package(body, "edited", lenient=True)
        return None if check(package, NOWHERE) else checked_package.resolve(package, "")
    except AssayError:
        return None


def computation_of(checked: CheckedPackage, metrics: tuple[Metric, ...]) -> dict[str, object]:
    """Return how metrics are computed: statements with all that they read, down to events and constants."""
    package = checked.package
    every = [AppliedFilter(item, "1" if item.parameter else None) for item in package.filters]
    values = _constants_of(package)
    results: dict[str, object] = {}
    for node in nodes(compile_statements(checked, plan(package, metrics, every))):
        read = [results[name] for name in node.reads]
        results[node.name] = hash(
            repr((node.text, _records(package, node), [values[name] for name in node.places], read))
        )
    known = index_metrics(package)

    def how(metric: Metric) -> object:
        if is_formula(metric):
            over = [item for item in metric.measure.walk() if item.op == "metric"]
            return metric.measure, [how(known[item.name]) for item in over]
        return results[metric.id], checked.measured[metric.id].factor, metric.per, metric.sampled_only

    return {metric.id: how(metric) for metric in metrics}


def _records(package: Package, node: Node) -> object:
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


def _constants_of(package: Package) -> dict[str, object]:
    """Return each constant's path in a run, and its type."""
    every = [item for source in package.sources for item in source.constants]
    return {item.name: (item.files, item.path, item.type, item.default) for item in every}


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("system", ["antelope", "cardano", "cometbft"])
def test_edit_changes_hashes_of_affected_metrics_only(lab: Laboratory, system: str, seed: int) -> None:
    body = plain_data.to_plain_data(lab.session.package(system).package)
    old = decode_checked(copy.deepcopy(body))
    assert old
    before = computation_of(old, old.package.metrics)
    random = Random(seed)
    places = [path for path in find_leaves(body) if path[0] in PARTS and not is_documentation(path)]
    edits = 0
    while edits < EDITS:
        new = decode_checked(edit(body, random.choice(places), random))
        if new is None or new.package == old.package or new.definitions.keys() != old.definitions.keys():
            continue
        edits += 1
        named = {item.metric for item in diff(old, new).metrics}
        other = {name for name, digest in new.definitions.items() if digest != old.definitions[name]}
        assert other <= named
        after = computation_of(new, new.package.metrics)
        for metric in new.package.metrics:
            if metric.id not in other and before[metric.id] != after[metric.id]:  # computed with all others, or alone
                assert compute_alone(old, metric.id) == compute_alone(new, metric.id), metric.id


def compute_alone(checked: CheckedPackage, name: str) -> object:
    """Return how a metric is computed when it is the only one: tables have only its columns."""
    return computation_of(checked, (checked.metric(name),))
