"""Segments of metrics: a metric over those rows of its grain that have some value of a dimension, or of two.

A segment is a metric of its own with a further condition: `latency[kind=read]`, `latency[kind=read,region=eu]`,
`latency[kind=(none)]` over the rows without a value, `latency[kind=(other)]` over those of all values that a split does
not list. So everything that is computed for a metric is computed for its segments in the same way.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from assay.lang import formula
from assay.lang.checked_package import CheckedPackage
from assay.lang.definition_hash import hash_definitions
from assay.lang.model.expression import Expression
from assay.lang.model.package import Grain, Instant, Metric, Package
from assay.util.escape import escape_text, shorten

Value = str | int | bool | None
"""A value of a dimension; None where a row has none."""
Values = tuple[Value, ...]

NONE = "(none)"
OTHER = "(other)"
MOST_DIMENSIONS = 2
DIMENSION_TYPES = ("text", "boolean", "integer")
DIGITS = 12  # of a digest in the name of a file
_PLAIN = re.compile(r"[^\s\[\](),=\"\\](?:[^\[\](),=\"\\]*[^\s\[\](),=\"\\])?")
_POOLED = re.compile(r"=\(other(?: \d+)?\)$")
_PART = re.compile(r'(?P<name>\w+)=(?P<value>"(?:[^"\\]|\\.)*"|[^",\[\]]+)(?:,|$)')


@dataclasses.dataclass(frozen=True, slots=True)
class Split:
    """How metrics are split: by which dimensions, and into which combinations of values, in their order.

    The rows of `pooled` further combinations are one segment, if there are any: `other` in its id, which distinguishes
    splits that list other values.
    """

    metrics: tuple[str, ...]
    by: tuple[str, ...]
    values: tuple[Values, ...]
    pooled: int = 0
    other: str = OTHER

    def list_segments(self, metric: str) -> tuple[str, ...]:
        """Return the ids of the segments of a metric, in the order of rows."""
        pooled = (self.name_pooled(metric),) if self.pooled else ()
        return (*(name_segment(metric, self.by, item) for item in self.values), *pooled)

    def name_pooled(self, metric: str) -> str:
        """Return the id of the segment of a metric with all combinations that the split does not list."""
        return f"{metric}[{','.join(self.by)}={self.other}]"


def number_pooled(splits: Iterable[Split]) -> Iterator[Split]:
    """Yield splits so that pooled segments of different rows have different ids: `(other)`, `(other 2)`."""
    lists: dict[tuple[str, ...], list[tuple[Values, ...]]] = {}
    for split in splits:
        value_lists = lists.setdefault(split.by, [])
        if split.pooled and split.values not in value_lists:
            value_lists.append(split.values)
        number = value_lists.index(split.values) + 1 if split.pooled else 1
        yield split if number == 1 else dataclasses.replace(split, other=f"{OTHER[:-1]} {number})")


def is_segment(metric: str) -> bool:
    """Return whether the id of a metric is that of a segment: ids in specs have no brackets."""
    return metric.endswith("]")


def get_whole(metric: str) -> str:
    """Return the id of the metric that a segment is of; of another metric, its own id."""
    return metric.partition("[")[0] if is_segment(metric) else metric


def is_pooled(metric: str) -> bool:
    """Return whether the id of a segment is that of all values that a split does not list."""
    return _POOLED.search(metric[:-1]) is not None


def name_file(name: str) -> str:
    """Return a name that may end with the id of a metric for a file: a digest replaces the values of a segment."""
    return f"{get_whole(name)}-{hashlib.sha256(name.encode()).hexdigest()[:DIGITS]}" if is_segment(name) else name


def list_dimensions_of_segment(metric: str) -> tuple[str, ...]:
    """Return the dimensions of the segment with an id; empty for the id of another metric."""
    text = metric.partition("[")[2][:-1] if is_segment(metric) else ""
    if pooled := _POOLED.search(text):
        return tuple(text[: pooled.start()].split(","))
    return tuple(part["name"] for part in _PART.finditer(text))


def list_values_of_segment(metric: str) -> dict[str, str]:
    """Return the text of the value of each dimension of the segment with an id; empty for that of another metric."""
    text = metric.partition("[")[2][:-1] if is_segment(metric) else ""
    if pooled := _POOLED.search(text):
        return dict.fromkeys(text[: pooled.start()].split(","), OTHER)
    parts = {part["name"]: part["value"] for part in _PART.finditer(text)}
    return {name: json.loads(value) if value.startswith('"') else value for name, value in parts.items()}


def name_segment(metric: str, by: Sequence[str], values: Values) -> str:
    """Return the id of the segment of a metric with these values."""
    parts = (f"{name}={format_value(value)}" for name, value in zip(by, values, strict=True))
    return f"{metric}[{','.join(parts)}]"


def format_value(value: Value) -> str:
    """Return a value as text; in quotes if it would otherwise be ambiguous."""
    if value is None:
        return NONE
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if text.isprintable() and _PLAIN.fullmatch(text):
        return text
    return json.dumps(text, ensure_ascii=not text.isprintable())


def describe_segment(metric: str) -> str:
    """Return which rows the segment with an id has, as a sentence."""
    values = metric.partition("[")[2][:-1]
    if _POOLED.search(values):
        return f"Rows with other values of {' and '.join(list_dimensions_of_segment(metric))} than the table lists."
    return f"Rows with {escape_text(values)}."


def label_values(by: Sequence[str], values: Values) -> str:
    """Return a combination of values as it is printed: on one line, long ones cut.

    If a value does not speak for itself, such as a number, all follow the names of their dimensions.
    """
    texts = [shorten(format_value(value)) for value in values]
    if not all(isinstance(value, str) or (value is None and len(by) == 1) for value in values):
        texts = [f"{name}={text}" for name, text in zip(by, texts, strict=True)]
    return escape_text(", ".join(texts))


def parse_segment(package: Package, metric: Metric, text: str) -> Split:
    """Return the split into one segment of a metric, whose id has this text in brackets.

    Values have the type of their column. Raises ValueError, with what is expected, if the text has another form.
    """
    parts = list(_PART.finditer(text))
    if not 0 < len(parts) <= MOST_DIMENSIONS or "".join(part[0] for part in parts) != text:
        raise ValueError("DIMENSION=VALUE, or two with a comma between them; JSON quotes around other than plain words")
    grain_name = formula.find_grain(formula.index_metrics(package), metric)
    columns = (column for grain in package.grains if grain.name == grain_name for column in grain.all_columns)
    types = {column.name: column.type for column in columns}
    values = tuple(_parse_value(part["value"], types.get(part["name"], "text")) for part in parts)
    return Split((metric.id,), tuple(part["name"] for part in parts), (values,))


def _parse_value(text: str, column_type: str) -> Value:
    if text == NONE:
        return None
    if _POOLED.fullmatch(f"={text}"):
        raise ValueError(f"a value: {OTHER} are the values that a report does not list")
    if text.startswith('"'):
        text = str(json.loads(text))
    if column_type == "text":
        return text
    if column_type == "boolean":
        if text not in ("true", "false"):
            raise ValueError("true or false")
        return text == "true"
    return int(text) if re.fullmatch(r"-?\d+", text) else _refuse_integer()


def _refuse_integer() -> int:
    raise ValueError("a whole number")


def list_dimensions(package: Package, metric: Metric) -> tuple[str, ...]:
    """Return the dimensions by which a metric can be split; of a formula, those that all of its inputs have."""
    grains = {grain.name: grain for grain in package.grains}
    measured = formula.list_measured(formula.index_metrics(package), [metric])
    shared = [grains[item.grain].dimensions for item in measured if item.grain in grains]
    return tuple(name for name in shared[0] if all(name in item for item in shared)) if shared else ()


def find_field_to_take(package: Package, grain: Grain, name: str) -> str:
    """Return which edits make a column, or a field of a record that a grain binds, its dimension; empty without one."""
    columns = [column for column in grain.all_columns if column.name not in grain.key]
    if any(column.name == name and column.type in DIMENSION_TYPES for column in columns):
        return f'`{name}` is a column of grain `{grain.name}`: add `"{name}"` to its `dimensions`'
    events = {event.name: event for event in package.events}
    relation = next((item for item in package.relations if item.name == grain.relation), None)
    for instant in grain.instants:
        event = events.get(instant.of)
        if event and any(field.name == name and field.type in DIMENSION_TYPES for field in event.fields):
            if _is_of_each_record(grain, instant):
                has_column = any(column.name == name for column in grain.columns)
                copied = "add " if has_column else "add the field to `fields` of `G.eachRecord`, and "
                return (
                    f"`{name}` is a field of `{event.name}`: {copied}its name to `dimensions` of grain "
                    f"`{grain.name}` (docs/spec-language/grains.md#a-row-for-each-record)"
                )
            return (
                f"`{name}` is a field of `{event.name}`: "
                "`derived = [ { column = G.columnOf FIELD, value = G.taken INSTANT FIELD } ]` makes it a column of "
                f"grain `{grain.name}`, and `dimensions = [ FIELD.name ]` a dimension "
                "(docs/spec-language/grains.md#dimensions)"
            )
    for event in map(events.get, relation.uses if relation else ()):
        if event and any(field.name == name and field.type in DIMENSION_TYPES for field in event.fields):
            return (
                f"`{name}` is a field of `{event.name}`: add it to the SQL and the `columns` of relation "
                f"`{grain.relation}`, and its name to `dimensions` of grain `{grain.name}` "
                "(docs/spec-language/grains.md#dimensions)"
            )
    return ""


def _is_of_each_record(grain: Grain, instant: Instant) -> bool:
    """Return whether a grain is one of `G.eachRecord`, whose columns are fields of the record of the instant."""
    pairs = {(pair.column, pair.field) for pair in instant.on}
    return grain.relation == f"{grain.name}_records" and pairs == {("host", "host"), ("seq", "seq")}


def add_segments(checked: CheckedPackage, splits: Iterable[Split]) -> CheckedPackage:
    """Return the package with all segments of some splits among its metrics, those of inputs of formulas included."""
    metrics_by_id = formula.index_metrics(checked.package)
    added: dict[str, Metric] = {}
    for split in splits:
        for name in split.metrics:
            for values in split.values:
                condition = build_condition(split.by, values)
                suffix = name_segment("", split.by, values)
                _segment_metric(
                    metrics_by_id, added, metrics_by_id[name], condition, (suffix, label_values(split.by, values))
                )
            if split.pooled:
                condition = _build_pooled_condition(split)
                suffix = split.name_pooled("")
                _segment_metric(metrics_by_id, added, metrics_by_id[name], condition, (suffix, OTHER))
    return _add_metrics(checked, added)


def join_segments(checked: CheckedPackage, other: CheckedPackage) -> CheckedPackage:
    """Return the package with the segments that the same package has in another form."""
    return _add_metrics(checked, {item.id: item for item in other.package.metrics if is_segment(item.id)})


def _add_metrics(checked: CheckedPackage, added: Mapping[str, Metric]) -> CheckedPackage:
    new = {name: metric for name, metric in added.items() if name not in checked.measured}
    if not new:
        return checked
    metrics = sorted((*checked.package.metrics, *new.values()), key=lambda item: item.id)
    package = dataclasses.replace(checked.package, metrics=tuple(metrics))
    measured = {**checked.measured, **{name: checked.measured[get_whole(name)] for name in new}}
    return dataclasses.replace(checked, package=package, measured=measured, definitions=hash_definitions(package))


def _segment_metric(
    metrics_by_id: Mapping[str, Metric],
    added: dict[str, Metric],
    metric: Metric,
    condition: Expression,
    texts: tuple[str, str],
) -> None:
    """Add the segment of a metric to `added`, and of a formula those of its inputs; `texts` follow its id and its name.

    With a distribution for each host, only hosts with samples of the segment count.
    """
    suffix, label = texts
    segment_metric = dataclasses.replace(metric, id=f"{metric.id}{suffix}", name=f"{metric.name}: {label}")
    if formula.is_formula(metric):
        added[segment_metric.id] = dataclasses.replace(
            segment_metric, measure=_rename_inputs(metric.measure, suffix), examples=()
        )
        for name in formula.list_inputs(metric.measure):
            _segment_metric(metrics_by_id, added, metrics_by_id[name], condition, texts)
        return
    where = Expression("and", (metric.where, condition)) if metric.where else condition
    added[segment_metric.id] = dataclasses.replace(
        segment_metric, where=where, sampled_only=bool(metric.per) or metric.sampled_only
    )


def _rename_inputs(node: Expression, suffix: str) -> Expression:
    operands = tuple(_rename_inputs(operand, suffix) for operand in node.operands)
    name = f"{node.name}{suffix}" if node.op == "metric" else node.name
    return dataclasses.replace(node, operands=operands, name=name)


def build_condition(by: Sequence[str], values: Values, *, never_null: bool = False) -> Expression:
    """Return the condition that a row has these values; unless `never_null`, it may be null instead of false."""
    terms: list[Expression] = []
    for name, value in zip(by, values, strict=True):
        column = Expression("column", name=name)
        if value is None:
            terms.append(Expression("absent", (column,)))
            continue
        terms += [Expression("present", (column,))] if never_null else []
        terms.append(Expression("equals", (column, _build_literal(value))))
    return terms[0] if len(terms) == 1 else Expression("and", tuple(terms))


def _build_literal(value: str | int | bool) -> Expression:
    if isinstance(value, bool):
        return Expression("boolean", text="true" if value else "false")
    if isinstance(value, int):
        return Expression("integer", number=Decimal(value))
    return Expression("text", text=value)


def _build_pooled_condition(split: Split) -> Expression:
    """Return the condition that a row has none of the combinations of a split."""
    listed = tuple(build_condition(split.by, values, never_null=True) for values in split.values)
    return Expression("not", (listed[0] if len(listed) == 1 else Expression("or", listed),))
