"""Definitions in words, composed of what the specs say: expressions, instants, samples, averages, conversions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from assay.lang import formula
from assay.lang.labels import LINES
from assay.lang.model.expression import Expression
from assay.lang.model.package import Field, Filter, Grain, Instant, Metric, Package, Pair, Series
from assay.lang.model.vocabulary import COMPUTED, LATEST_BEFORE
from assay.lang.normal_form import CheckedPackage
from assay.styles.exact_decimal import exact_text


def describe_expression(node: Expression) -> str:
    """An expression in words; instants stand between asterisks, columns and fields between backquotes."""
    if (time := _elapsed(node)) is not None:
        return time
    leaf = _LEAVES.get(node.op)
    if leaf:
        return leaf(node)
    return _OPERATORS[node.op](node, [_inner(item) for item in node.operands])


def _inner(node: Expression) -> str:
    text = describe_expression(node)
    compound = node.op in _BINARY or node.op in _OPEN or _elapsed(node) is not None
    return f"({text})" if compound else text


def _elapsed(node: Expression) -> str | None:
    """A difference of instants: the time from one to the other."""
    if node.op != "minus" or not all(map(_is_instant, node.operands)):
        return None
    to, start = node.operands
    return f"time from {_instants(start)} to {_instants(to)}"


def _is_instant(node: Expression) -> bool:
    return node.op == "instant" or (node.op == "coalesce" and all(map(_is_instant, node.operands)))


def _instants(node: Expression) -> str:
    if node.op == "instant":
        return f"*{node.name}*"
    return f"the first of {', '.join(_instants(item) for item in node.operands)} that there is"


_BINARY = {
    "plus": "+", "minus": "−", "times": "×", "over": "/", "div": "÷", "at_least": "≥", "at_most": "≤", "above": ">",
    "below": "<", "equals": "=",
}  # fmt: skip

#: operators of which it would not be seen where their words end, or what they are about
_OPEN = frozenset(("and", "or", "coalesce", "greatest", "floor", "whole", "as_unit", "matches"))

_LEAVES: Mapping[str, Callable[[Expression], str]] = {
    "column": lambda node: f"`{node.name}`",
    "instant": lambda node: f"*{node.name}*",
    "field": lambda node: f"`{node.name}`",
    "taken": lambda node: f"`{node.name}` of *{node.text}*",
    "constant": lambda node: f"the run's {node.name}",
    "parameter": lambda node: node.name,
    "metric": lambda node: f"`{node.name}`",
    "integer": lambda node: str(node.number),
    "real": lambda node: str(node.number),
    "text": lambda node: f"“{node.text}”",
    "boolean": lambda node: "yes" if node.text == "true" else "no",
    "quantity": lambda node: f"{node.number} {node.unit}",
}

_OPERATORS: Mapping[str, Callable[[Expression, list[str]], str]] = {
    **{op: lambda _node, parts, sign=sign: f"{parts[0]} {sign} {parts[1]}" for op, sign in _BINARY.items()},  # type: ignore[misc]
    "coalesce": lambda _node, parts: ", or where there is none ".join(parts),
    "greatest": lambda _node, parts: f"the greatest that is there of {', '.join(parts)}",
    "div": lambda _node, parts: f"{parts[0]} ÷ {parts[1]} cut to a whole number",
    "and": lambda _node, parts: " and ".join(parts),
    "or": lambda _node, parts: " or ".join(parts),
    "not": lambda _node, parts: f"not {parts[0]}",
    "floor": lambda _node, parts: f"{parts[0]} rounded down",
    "present": lambda _node, parts: f"{parts[0]} is there",
    "absent": lambda _node, parts: f"{parts[0]} is not there",
    "matches": lambda _node, parts: f"{parts[0]} matches {parts[1]}",
    "converted": lambda _node, parts: parts[0],
    "whole": lambda node, parts: f"{parts[0]} cut to whole {node.unit}",
    "as_unit": lambda node, parts: f"{parts[0]} counted as {_unit(node.unit)}",
}


def _unit(name: str) -> str:
    return "a plain number" if name in ("", "dimensionless") else name


def instant_said(instant: Instant) -> str:
    """How an instant is found, in words."""
    if instant.pick == COMPUTED:
        return describe_expression(instant.value) if instant.value else ""
    which = {LATEST_BEFORE: "latest"}.get(instant.pick, instant.pick)
    text = f"the {which} `{instant.of}`"
    if instant.where:
        text += f" where {describe_expression(instant.where)}"
    if instant.before:
        text += f", before *{instant.before}*"
    return text + "".join(f", {item}" for item in _pairs(instant.on))


def _pairs(pairs: Iterable[Pair]) -> Iterator[str]:
    for pair in pairs:
        if pair.field == "host":
            yield "on its host" if pair.column == "host" else f"on its `{pair.column}`"
        elif pair.field == pair.column:
            yield f"of the same `{pair.column}`"
        else:
            yield f"whose `{pair.field}` is its `{pair.column}`"


def used_instants(grain: Grain, nodes: Iterable[Expression]) -> tuple[Instant, ...]:
    """The instants that expressions are about, and those that these depend on, in the order of the grain."""
    known = {item.name: item for item in grain.instants}
    derived = {item.column.name: item.value for item in grain.derived}
    found: set[str] = set()
    queue = [item for node in nodes for item in node.walk()]
    while queue:
        node = queue.pop()
        name = node.text if node.op == "taken" else node.name
        if node.op == "column" and name in derived:
            queue += list(derived.pop(name).walk())
        if node.op in ("instant", "taken") and name in known and name not in found:
            found.add(name)
            instant = known[name]
            queue += list(instant.value.walk()) if instant.value else []
            queue += [Expression("instant", name=instant.before)] if instant.before else []
    return tuple(item for item in grain.instants if item.name in found)


def columns_said(grain: Grain, nodes: Iterable[Expression]) -> list[tuple[str, str]]:
    """The columns that expressions are about: name, and what each is; those that they, and the instants that the
    expressions are about, are computed of, too."""
    derived = {item.column.name: item for item in grain.derived}
    tallies = {item.column.name: item for item in grain.tallies}
    plain = {item.name: item for item in grain.columns}
    found: dict[str, str] = {}
    nodes = tuple(nodes)
    made = (item.value for item in used_instants(grain, nodes) if item.value)
    queue = [item.name for node in (*nodes, *made) for item in node.walk() if item.op == "column"]
    while queue:
        name = queue.pop(0)
        if name in found:
            continue
        if name in derived:
            found[name] = _with_doc(derived[name].column.doc, describe_expression(derived[name].value))
            queue += [item.name for item in derived[name].value.walk() if item.op == "column"]
        elif name in tallies:
            tally = tallies[name]
            where = f" where {describe_expression(tally.where)}" if tally.where else ""
            agreeing = "".join(f", {item}" for item in _pairs(tally.on))
            found[name] = _with_doc(tally.column.doc, f"number of rows of `{tally.of}`{where}{agreeing}")
        else:
            found[name] = plain[name].doc if name in plain else ""
    return list(found.items())


def _with_doc(doc: str, text: str) -> str:
    return f"{doc} ({text})" if doc else text


def sampled(metric: Metric, grain: Grain) -> str:
    """What there is one sample for."""
    row = _decapitalised(grain.doc or grain.name)
    if metric.reduction is not None:
        return (
            f"one sample for each {_by(metric.reduction.by)}: {_reduced(metric)}, over rows of `{grain.name}` ({row})"
        )
    return f"one sample for each row of `{grain.name}` ({row})"


def valued(grain: Grain, package: Package) -> str:
    """The series that a grain's rows are the values of; empty of other rows."""
    return f", a value of series `{grain.relation}`" if grain.relation in {one.name for one in package.series} else ""


def runs_said(grain: Grain) -> str:
    """What rows of a grain that is made of another are; empty of the rows of a relation."""
    if (runs := grain.runs) is None:
        return ""
    condition = describe_expression(runs.holds)
    text = f"the longest runs of rows of `{runs.of}` where {condition}, next to each other in `{runs.along}` among "
    return text + "those that the filters accept" + (f", for each {_by(runs.by)}" if runs.by else "")


def _by(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _reduced(metric: Metric) -> str:
    assert metric.reduction is not None
    kinds = {"min": "the smallest", "max": "the greatest", "sum": "the sum", "count": "the number of values"}
    if metric.reduction.kind == "centile":
        return f"the centile {metric.reduction.centile:g}"
    return kinds[metric.reduction.kind]


def averaged(metric: Metric, checked: CheckedPackage, summary: str) -> str:
    """What the average is."""
    if not metric.per:
        return "average = mean of all samples"
    found = next((item for item in checked.package.summaries if item.name == summary), None)
    how = f"{summary}: {_decapitalised(found.doc)}" if found and found.doc else summary
    which = "that has samples" if metric.sampled_only else "(all 0 without samples)"
    return f"one distribution for each `{metric.per}` {which}; average = over these ({how or 'mean of means'})"


def _decapitalised(text: str) -> str:
    return text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text


def sentence(metric: Metric, checked: CheckedPackage, summary: str) -> str:
    """The whole definition of a metric in words."""
    grain = next(item for item in checked.package.grains if item.name == metric.grain)
    parts = [describe_expression(metric.measure)]
    parts[0] += f", in {metric.unit.symbol}" if metric.unit.symbol else ""
    where = f", where {describe_expression(metric.where)}" if metric.where else ""
    parts.append(
        sampled(metric, grain)
        + valued(grain, checked.package)
        + where
        + (", if the filters accept it" if metric.accepted else "")
    )
    parts.append(averaged(metric, checked, summary))
    return "; ".join(parts)


def formula_sentence(metric: Metric) -> str:
    """The whole definition of a formula in words."""
    over = ", ".join(f"`{name}`" for name in formula.list_inputs(metric.measure))
    unit = metric.unit.symbol or metric.unit.name
    written = formula.format_formula(metric.measure)
    text = f"{written}{f', in {unit}' if unit else ''}; worked out of the averages of {over}"
    return text + (f", on a row of `{metric.grain}` of what these measure there" if metric.grain else "")


def formula_conversions(metric: Metric) -> list[str]:
    """Each conversion of units in a formula, with its exact factor."""
    return [f"1 {unit} = {factor} {base}" for unit, factor, base in formula.list_conversions(metric.measure)]


def series_sentence(series: Series) -> str:
    """The whole definition of a series in words."""
    if series.terms and series.value:
        return _computed_sentence(series, series.value)
    read = {
        "latest": f"the last sample of the last {window_said(series)}",
        "rate": f"the increase a second of the counter over {window_said(series)}",
    }[series.reading]
    if series.covered:
        read += ", where samples cover these,"
    sources = ", else ".join(_sampled_of(item.event, item.where) for item in series.samples)
    text = f"{read} of {sources}, read {_steps(series)} of each of `{series.windows}`"
    text += f"; a line for each {_by(series.by)}" if series.by else ""
    if series.gone:
        text += (
            f"; a line ends at {_sampled_of(series.gone.event, series.gone.where)} of the same {_by(series.gone.on)}"
        )
        text += ", and where these cease while others go on" if series.ceases else ""
    return text + (f"; in {series.unit.symbol}" if series.unit.symbol else "")


def _computed_sentence(series: Series, value: Expression) -> str:
    terms = ", ".join(f"`{term.name}` is {LINES[term.over]}`{term.series}`" for term in series.terms)
    lines = f"; a line for each {_by(series.by)}" if series.by else ""
    return f"{describe_expression(value)}, wherever all of these have a value: {terms}{lines}" + (
        f"; in {series.unit.symbol}" if series.unit.symbol else ""
    )


def _sampled_of(event: str, where: Expression | None) -> str:
    return f"`{event}`" + (f" where {describe_expression(where)}" if where else "")


def window_said(series: Series) -> str:
    """How far back the readings of a series look: so long, or as a constant of the run says."""
    return _duration(series.window, series.window_ns)


def _steps(series: Series) -> str:
    return f"at steps of the run's {series.every}" if series.every else f"every {_seconds(series.every_ns)}"


def _duration(constant: str, ns: int) -> str:
    return f"the run's {constant}" if constant else _seconds(ns)


def _seconds(ns: int) -> str:
    return f"{exact_text(ns, 9)} s"


def conversions(metric: Metric, checked: CheckedPackage) -> list[str]:
    """Each conversion of units that a value goes through, with its factor."""
    grain = next(item for item in checked.package.grains if item.name == metric.grain)
    found = [text for node in _all_nodes(metric.measure, grain) for text in _conversion(node)]
    measured = checked.measured[metric.id]
    if Fraction(measured.factor) != 1:
        symbol = metric.unit.symbol or metric.unit.name
        found.append(f"{measured.unit} to {symbol}: × {measured.factor}")
    return list(dict.fromkeys(found))


def _all_nodes(node: Expression, grain: Grain) -> Iterator[Expression]:
    """The nodes of an expression, and those of the columns and instants that it is computed of."""
    derived = {item.column.name: item.value for item in grain.derived}
    derived |= {item.name: item.value for item in grain.instants if item.value}
    done: set[str] = set()
    queue = [node]
    while queue:
        for item in queue.pop(0).walk():
            yield item
            if item.op in ("column", "instant") and item.name in derived and item.name not in done:
                done.add(item.name)
                queue.append(derived[item.name])


def _conversion(node: Expression) -> Iterator[str]:
    if node.op == "whole":
        yield f"to {node.unit}: × {node.factor}, cut to a whole number sample by sample"
    elif node.op == "quantity" and node.factor not in ("", "1"):
        yield f"{node.number} {node.unit}: × {node.factor}"
    elif node.op == "as_unit":
        yield f"{describe_expression(node.operands[0])}: counted as {_unit(node.unit)}, no conversion"


def fallbacks(metric: Metric, grain: Grain) -> list[str]:
    """What stands in for what is not there, in words."""
    return list(
        dict.fromkeys(
            f"{describe_expression(node.operands[index])}, where there is none: {describe_expression(after)}"
            for node in _all_nodes(metric.measure, grain)
            if node.op == "coalesce"
            for index, after in enumerate(node.operands[1:])
        )
    )


def field_said(ways: Iterable[tuple[str, Field]]) -> tuple[str, ...]:
    """What is done to the text that a record has of a field, and what stands in where it has none, each once.

    `ways` are its forms that are read, each with its places as a text: told with what is not so of all of them.
    """
    changed = [(place, list(_field_changes(item))) for place, item in ways]
    alike = set.intersection(*(set(texts) for _, texts in changed)) if changed else set()
    found = [text if text in alike else f"of {place} {text}" for place, texts in changed for text in texts]
    return tuple(dict.fromkeys(found))


def _field_changes(field: Field) -> Iterator[str]:
    for change in field.transforms:
        if change.kind == "take":
            yield f"its first {change.number} characters"
        elif change.kind == "before":
            yield f"what is before “{change.text}”"
        elif change.kind == "plus":
            yield f"{'plus' if change.number >= 0 else 'less'} {abs(change.number)}"
        else:
            yield "a duration, in nanoseconds"
    if field.default is not None:
        yield f"where there is none: {field.default or 'empty'}"


def quirks(package: Package, relations: Iterable[str]) -> list[tuple[str, str]]:
    """Where the specs say that something is done for compatibility only: the relation, and what it says."""
    by_name = {item.name: item for item in package.relations}
    return [(name, text) for name in relations if name in by_name for text in compatibility(by_name[name].sql)]


def compatibility(sql: str) -> list[str]:
    """What comments of a SQL text that begin with `Compatibility:` say, each to the end of its comment."""
    comments = re.findall(r"(?:^[ \t]*--[^\n]*\n?)+", sql, re.MULTILINE)
    found = []
    for comment in comments:
        lines = [line.strip().removeprefix("--").strip() for line in comment.strip().splitlines()]
        start = next((index for index, line in enumerate(lines) if line.startswith("Compatibility:")), None)
        if start is not None:
            found.append(" ".join(lines[start:]).removeprefix("Compatibility:").strip())
    return found


def filter_said(item: Filter, grain: str) -> str:
    """What a filter demands of the rows of a grain."""
    return " and ".join(
        describe_expression(condition.holds) for condition in item.conditions if condition.grain == grain
    )
