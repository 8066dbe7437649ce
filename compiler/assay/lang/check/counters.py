"""Refuse averages of totals since a start, and of averages since a start: they say how long a run is.

Fields declare what they are: `E.counter`, `E.averageSoFar`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp
from sqlglot.errors import ParseError, TokenError

from assay.lang import formula
from assay.lang.check.checker import Checker
from assay.lang.model.package import CENTILE, Field, Grain, Metric, Relation
from assay.lang.quantities import unwrap_measure
from assay.lang.sql_dependencies import parse_statements
from assay.lang.units import VALUE

#: kinds of fields
RESULT, COUNTER, LEVEL, AVERAGE = "value", "counter", "gauge", "average"
FIELD_KINDS = (RESULT, COUNTER, LEVEL, AVERAGE)
#: reductions and readings that add up or average
_MIXING = ("", "sum", CENTILE)
_MIXED_READINGS = ("sum", "mean")
_WORDS = {COUNTER: "a total since a start", AVERAGE: "an average since a start"}
_HINTS = {
    COUNTER: "measure its increase by a series with the reading `increase` or `rate`; `M.greatest` is the last total",
    AVERAGE: "measure the numbers that it averages",
}


def check_counters(checker: Checker) -> None:
    """Check the kinds of fields, and that no metric or series averages what counts, or averages, since a start."""
    fields = {(event.name, field.name): field for event in checker.package.events for field in event.fields}
    for (event, _), field in fields.items():
        if field.kind not in FIELD_KINDS:
            message = f"unknown kind of field `{field.name}` of event `{event}`"
            checker.report("unknown-word", message, field.kind or field.name, expected=", ".join(FIELD_KINDS),
                           found=field.kind or "nothing", within=(field.name,))  # fmt: skip
    grains = {grain.name: grain for grain in checker.package.grains}
    for metric in checker.package.metrics:
        if not formula.is_formula(metric) and metric.grain in grains:
            _check_metric(checker, metric, grains[metric.grain], fields)
    for series in checker.package.series:
        read = series.value.name if series.value and series.value.op == "field" else "" if series.value else VALUE
        for sampled in series.samples if series.reading in _MIXED_READINGS else ():
            sampled_field = fields.get((sampled.event, read))
            if sampled_field is not None and sampled_field.kind in _HINTS:
                _report(checker, f"series `{series.name}` has the {series.reading} of", sampled_field, series.name)


def _check_metric(checker: Checker, metric: Metric, grain: Grain, fields: Mapping[tuple[str, str], Field]) -> None:
    if (metric.reduction.kind if metric.reduction else "") not in _MIXING:
        return
    measure = unwrap_measure(metric.measure)
    if measure.op == "taken":
        events = [instant.of for instant in grain.instants if instant.name == measure.text]
    elif measure.op == "column":
        events = list(_list_events(checker, grain, measure.name))
    else:
        return
    for field in filter(None, (fields.get((event, measure.name)) for event in events)):
        if field.kind in _HINTS:
            _report(checker, f"metric `{metric.id}` averages", field, metric.id)
            return


def _list_events(checker: Checker, grain: Grain, column: str) -> Iterator[str]:
    """Yield the events whose field of this name is the column of a grain, unchanged, a row for each record."""
    relation = next((item for item in checker.package.relations if item.name == grain.relation), None)
    if not isinstance(relation, Relation):
        return
    try:
        trees = parse_statements(relation.sql)
    except (ParseError, TokenError, RecursionError):
        return  # reported by check_queries
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


def _report(checker: Checker, subject: str, field: Field, owner: str) -> None:
    checker.report(
        field.kind,
        f"{subject} `{field.name}`, which is {_WORDS[field.kind]}",
        owner,
        expected="a number that each record has for itself",
        found=_WORDS[field.kind],
        hint=_HINTS[field.kind],
        field="measure",
    )
