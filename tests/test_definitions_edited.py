"""Equal hashes, equal meaning: after edits of shipped specs, metrics of another hash are those that `diff` tells, and
those of the same hash are worked out as before."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

import pytest

from assay.app.compute import compiled
from assay.diff.specs import diff
from assay.engine.graph import Node, nodes
from assay.lang import decode, normal_form
from assay.lang.check.check import check
from assay.lang.formula import index_metrics, is_formula
from assay.lang.model.package import Metric, Package
from assay.lang.normal_form import CheckedPackage
from assay.plan.planner import Applied, EventStep, plan
from assay.util.diagnostics import AssayError
from tests.support.laboratory import Laboratory
from tests.support.workspaces import NOWHERE

#: the parts of a package that definitions are made of
PARTS = ("sources", "events", "relations", "grains", "metrics", "filters", "series")
PROSE = {"doc", "message", "hint", "better", "width", "examples", "symbol"}
EDITS = 6  # of a seed
SEEDS = 4
WORDS = (
    ("above", "at_least"), (">=", ">"), ("min(", "max("), ("first", "last"), ("sum(", "max("), ("LEFT", "INNER"),
    (" + ", " - "), ("ASC", "DESC"), ("second", "millisecond"), ("host", "hosts"), ("integer", "real"),
)  # fmt: skip
Path_ = tuple[str | int, ...]


def leaves(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """The places of single values in plain data."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not isinstance(value, (dict, list)):
        yield path
    for key, inner in parts:
        yield from leaves(inner, (*path, key))


def says_only(path: Path_) -> bool:
    """Whether what stands at a place is said, and makes no difference to a number."""
    return bool(PROSE & set(path)) or (path[0], path[-1], len(path)) == ("metrics", "name", 3)


def edited(body: Mapping[str, Any], path: Path_, random: Random) -> Any:
    """The plain data with another value at a place."""
    found = copy.deepcopy(body)
    at: Any = found
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = _other(at[path[-1]], random)
    return found


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


def taken(body: Any) -> CheckedPackage | None:
    """The package of plain data, where the checker has nothing against it."""
    try:
        package = decode.package(body, "edited", lenient=True)
        return None if check(package, NOWHERE) else normal_form.resolve(package, "")
    except AssayError:
        return None


def worked_out(checked: CheckedPackage, metrics: tuple[Metric, ...]) -> dict[str, object]:
    """How metrics are worked out: their statements and all that these read, down to events and constants."""
    package = checked.package
    every = [Applied(item, "1" if item.parameter else None) for item in package.filters]
    told = _told(package)
    made: dict[str, object] = {}
    for node in nodes(compiled(checked, plan(package, metrics, every))):
        read = [made[name] for name in node.reads]
        made[node.name] = hash(repr((node.text, _records(package, node), [told[name] for name in node.places], read)))
    known = index_metrics(package)

    def how(metric: Metric) -> object:
        if is_formula(metric):
            over = [item for item in metric.measure.walk() if item.op == "metric"]
            return metric.measure, [how(known[item.name]) for item in over]
        return made[metric.id], checked.measured[metric.id].factor, metric.per, metric.sampled_only

    return {metric.id: how(metric) for metric in metrics}


def _records(package: Package, node: Node) -> object:
    """How the records of an event are found, and the fields of it that are read; nothing of other statements."""
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


def _told(package: Package) -> dict[str, object]:
    """Each constant as where it stands in a run, and as what it is read."""
    every = [item for source in package.sources for item in source.constants]
    return {item.name: (item.files, item.path, item.type, item.default) for item in every}


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("system", ["antelope", "cardano", "cometbft"])
def test_an_edit_changes_the_hashes_of_what_it_changes(lab: Laboratory, system: str, seed: int) -> None:
    body = normal_form.to_plain_data(lab.session.package(system).package)
    old = taken(copy.deepcopy(body))
    assert old
    before = worked_out(old, old.package.metrics)
    random = Random(seed)
    places = [path for path in leaves(body) if path[0] in PARTS and not says_only(path)]
    edits = 0
    while edits < EDITS:
        new = taken(edited(body, random.choice(places), random))
        if new is None or new.package == old.package or new.definitions.keys() != old.definitions.keys():
            continue
        edits += 1
        told = {item.metric for item in diff(old, new).metrics}
        other = {name for name, found in new.definitions.items() if found != old.definitions[name]}
        assert other <= told
        after = worked_out(new, new.package.metrics)
        for metric in new.package.metrics:
            if metric.id not in other and before[metric.id] != after[metric.id]:  # all at once, or its own?
                assert alone(old, metric.id) == alone(new, metric.id), metric.id


def alone(checked: CheckedPackage, name: str) -> object:
    """How a metric is worked out that is asked for alone: tables have what it needs and no more."""
    return worked_out(checked, (checked.metric(name),))
