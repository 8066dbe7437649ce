"""Kinds of numbers that fields declare: what a number says decides which metrics of it mean something."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from sqlglot import exp
from sqlglot.errors import ParseError, TokenError

from assay.lang.model.package import Event, Field, Grain, Metric, Package, Relation
from assay.lang.quantities import COUNT, find_quantity, unwrap_measure
from assay.lang.sql_dependencies import parse_statements
from assay.lang.units import get_package_library

RESULT, COUNTER, LEVEL, AVERAGE = "value", "counter", "gauge", "average"
COUNTED, THRESHOLD, ID = "count", "threshold", "id"
FIELD_KINDS = (RESULT, COUNTER, LEVEL, AVERAGE, COUNTED, THRESHOLD, ID)

#: fields by the event that has them and their name
Fields = Mapping[tuple[str, str], Field]


def list_fields(events: Sequence[Event]) -> dict[tuple[str, str], Field]:
    """Return the fields of events."""
    return {(event.name, field.name): field for event in events for field in event.fields}


def list_levels(events: Sequence[Event]) -> frozenset[str]:
    """Return the names of fields that are levels."""
    return frozenset(name for (_, name), field in list_fields(events).items() if field.kind == LEVEL)


def reads_one_of(metric: Metric, fields: Set[str]) -> bool:
    """Return whether a metric measures a column that is one of some fields, or such a field of an instant."""
    measure = unwrap_measure(metric.measure)
    return measure.op == "column" and any(measure.name == name or measure.name.endswith(f"_{name}") for name in fields)


def list_measured_fields(
    metric: Metric, grain: Grain, fields: Fields, relations: Mapping[str, object]
) -> Iterator[Field]:
    """Yield the fields that a metric measures as they are: a column of its rows, or one of the record at an instant."""
    measure = unwrap_measure(metric.measure)
    events: Iterator[str] = iter(())
    if measure.op == "taken":
        events = (instant.of for instant in grain.instants if instant.name == measure.text)
    elif measure.op == "column":
        events = _list_events(relations.get(grain.relation), measure.name)
    for event in events:
        if field := fields.get((event, measure.name)):
            yield field


def _list_events(relation: object, column: str) -> Iterator[str]:
    """Yield the events whose field of this name is the column of a relation, unchanged, a row for each record."""
    if not isinstance(relation, Relation):
        return
    try:
        trees = parse_statements(relation.sql)
    except (ParseError, TokenError, RecursionError):
        return  # a check reports them
    for select in (node for tree in trees for node in _list_branches(tree)):
        source = select.args.get("from_")
        table = source.this if source else None
        is_plain = not any(select.args.get(name) for name in ("with_", "joins", "group", "distinct"))
        names = [item.name for item in select.expressions if isinstance(item, exp.Column)]
        if is_plain and isinstance(table, exp.Table) and column in names:
            yield table.name


def _list_branches(tree: exp.Expr) -> Iterator[exp.Select]:
    """Yield the selections that a query consists of: a subquery may still compute differences of its columns."""
    if isinstance(tree, exp.Union):
        yield from _list_branches(tree.left)
        yield from _list_branches(tree.right)
    elif isinstance(tree, exp.Select):
        yield tree


def find_quantities(package: Package, metrics: Sequence[Metric]) -> dict[str, str]:
    """Return what each metric measures, by id; empty if it may be anything."""
    library, counting = get_package_library(package), _list_counting_metrics(package, metrics)
    grains = {item.name: item for item in package.grains}
    return {
        item.id: find_quantity(library, item, grains[item.grain]) or (COUNT if item.id in counting else "")
        for item in metrics
    }


def _list_counting_metrics(package: Package, metrics: Iterable[Metric]) -> frozenset[str]:
    """Return the ids of the metrics that measure a field which counts."""
    fields = {key: field for key, field in list_fields(package.events).items() if field.kind == COUNTED}
    if not fields:
        return frozenset()
    grains = {item.name: item for item in package.grains}
    relations = {item.name: item for item in package.relations}
    return frozenset(
        item.id for item in metrics if any(list_measured_fields(item, grains[item.grain], fields, relations))
    )
