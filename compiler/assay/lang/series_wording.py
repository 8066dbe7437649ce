"""Describe in words the samples that series read: their names, and the filter on their labels."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from assay.lang.model.expression import Expression, format_expression
from assay.lang.model.package import Event, Package
from assay.lang.model.series import Sampled, Series, Term
from assay.lang.model.source_kinds import SOURCE_KINDS

COMPARED = {"equals": "=", "matches": "=~", "at_least": "≥", "at_most": "≤", "above": ">", "below": "<"}
NEGATED = {"=": "!=", "=~": "!~"}
EVERY = "every label"
EVERY_RECORD = "every record"
#: way of merging lines of a series -> its words; the empty one merges no lines
LINES = {
    "": "", "mean": "the mean of the lines of ", "sum": "the sum of the lines of ",
    "least": "the least of the lines of ", "greatest": "the greatest of the lines of ",
}  # fmt: skip


def describe_series(package: Package, series: Series) -> str:
    """Return a sentence on what a series reads: `Of node_load1, every label.`, or the terms it is computed from."""
    if series.terms:
        return f"Computed from {' and '.join(_describe_term(package, term) for term in series.terms)}."
    return f"{_describe_samples(package, series)}."


def _describe_samples(package: Package, series: Series) -> str:
    filters = [describe_sample_filter(package, item) for item in series.samples]
    if not series.has_intervals:
        return f"Of {'; else of '.join(filters)}"
    interval = f"the run's {series.every}" if series.every else f"{Decimal(series.every_ns).scaleb(-9).normalize():f} s"
    reading = f"{series.reading.capitalize()}{' per second' if series.per_second else ''}"
    return f"{reading} in intervals of {interval}, of {'; and of '.join(filters)}"


def _describe_term(package: Package, term: Term) -> str:
    """Return the name of a term's series, how its lines are merged, and what it reads."""
    series = next(item for item in package.series if item.name == term.series)
    source = describe_series(package, series).removesuffix(".") if series.terms else _describe_samples(package, series)
    return f"{LINES[term.over]}{term.series} ({source[:1].lower()}{source[1:]})"


def describe_sample_filter(package: Package, item: Sampled) -> str:
    """Return the names of samples and the filter on them."""
    event = next(candidate for candidate in package.events if candidate.name == item.event)
    return f"{' or '.join(list_record_names(event) or (event.name,))}, {describe_filter(package, item)}"


def list_record_names(event: Event) -> tuple[str, ...]:
    """Return the distinct names of the records of an event."""
    return tuple(dict.fromkeys(name.name for form in event.forms for name in form.names))


def describe_filter(package: Package, item: Sampled) -> str:
    """Return the filter on samples in words."""
    if item.where:
        return describe_condition(item.where)
    source = next(event.source for event in package.events if event.name == item.event)
    kind = next(candidate.kind for candidate in package.sources if candidate.name == source)
    return EVERY if SOURCE_KINDS[kind].has_series else EVERY_RECORD


def describe_labels(package: Package, series: Series) -> str:
    """Return the filter on labels of the samples of a series; for a computed series, one for each sampled series."""
    filters = {
        item.name: "; else ".join(describe_filter(package, sampled) for sampled in item.samples)
        for item in _list_sampled_series(package, series)
    }
    if len(set(filters.values())) == 1:
        return next(iter(filters.values()))
    return "; ".join(f"of {name}: {text}" for name, text in filters.items())


def _list_sampled_series(package: Package, series: Series) -> Iterator[Series]:
    """Yield the series of samples that a series is computed from, directly or not."""
    if not series.terms:
        yield series
    for term in series.terms:
        yield from _list_sampled_series(package, next(item for item in package.series if item.name == term.series))


def describe_condition(node: Expression, *, inside: bool = False) -> str:
    """Return a condition in words: `job !~ ".*exporter.*"`; any other expression as in normal forms."""
    if node.op in ("and", "or"):
        text = f" {node.op} ".join(describe_condition(item, inside=True) for item in node.operands)
        return f"({text})" if inside else text
    if node.op == "not" and node.operands[0].op in ("equals", "matches"):
        return _describe_comparison(node.operands[0], NEGATED[COMPARED[node.operands[0].op]])
    if node.op == "not":
        return f"not {describe_condition(node.operands[0], inside=True)}"
    if node.op in COMPARED:
        return _describe_comparison(node, COMPARED[node.op])
    return node.name if node.op == "field" else format_expression(node)


def _describe_comparison(node: Expression, sign: str) -> str:
    left, right = (describe_condition(item, inside=True) for item in node.operands)
    return f"{left} {sign} {right}"
