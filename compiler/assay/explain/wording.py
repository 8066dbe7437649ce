"""Describe definitions in words: expressions, instants, samples, averages, conversions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from assay.lang import formula
from assay.lang.checked_package import CheckedPackage
from assay.lang.expression_wording import describe_expression, describe_unit
from assay.lang.model.expression import Expression
from assay.lang.model.filters import Filter
from assay.lang.model.package import HISTOGRAMS, NO_VALUE, Field, Grain, Instant, Metric, Package, Pair
from assay.lang.model.series import Series
from assay.lang.model.vocabulary import COMPUTED, LATEST_BEFORE
from assay.lang.record_units import UNIT_OF, WITH_UNIT
from assay.lang.series_wording import LINES
from assay.number_styles.exact_decimal import format_exact


def describe_instant(instant: Instant) -> str:
    """Describe how an instant is determined."""
    if instant.pick == COMPUTED:
        return describe_expression(instant.value) if instant.value else ""
    which = {LATEST_BEFORE: "latest"}.get(instant.pick, instant.pick)
    text = f"the {which} `{instant.of}`"
    if instant.where:
        text += f" where {describe_expression(instant.where)}"
    if instant.before:
        text += f", before *{instant.before}*"
    return text + "".join(f", {item}" for item in _describe_pairs(instant.on))


def _describe_pairs(pairs: Iterable[Pair]) -> Iterator[str]:
    for pair in pairs:
        if pair.field == "host":
            yield "on its host" if pair.column == "host" else f"on its `{pair.column}`"
        elif pair.field == pair.column:
            yield f"of the same `{pair.column}`"
        else:
            yield f"whose `{pair.field}` is its `{pair.column}`"


def list_used_instants(grain: Grain, nodes: Iterable[Expression]) -> tuple[Instant, ...]:
    """Return the instants that expressions use, directly or through others, in the order of the grain."""
    instants_by_name = {item.name: item for item in grain.instants}
    derived = {item.column.name: item.value for item in grain.derived}
    used_names: set[str] = set()
    queue = [item for node in nodes for item in node.walk()]
    while queue:
        node = queue.pop()
        name = node.text if node.op == "taken" else node.name
        if node.op == "column" and name in derived:
            queue += list(derived.pop(name).walk())
        if node.op in ("instant", "taken") and name in instants_by_name and name not in used_names:
            used_names.add(name)
            instant = instants_by_name[name]
            queue += list(instant.value.walk()) if instant.value else []
            queue += [Expression("instant", name=instant.before)] if instant.before else []
    return tuple(item for item in grain.instants if item.name in used_names)


def describe_columns(grain: Grain, nodes: Iterable[Expression]) -> list[tuple[str, str]]:
    """Return the columns that expressions use, each with its description.

    Columns that these, or the instants of the expressions, are computed from are included.
    """
    derived = {item.column.name: item for item in grain.derived}
    tallies = {item.column.name: item for item in grain.tallies}
    plain = {item.name: item for item in grain.columns}
    descriptions: dict[str, str] = {}
    nodes = tuple(nodes)
    computed = (item.value for item in list_used_instants(grain, nodes) if item.value)
    queue = [item.name for node in (*nodes, *computed) for item in node.walk() if item.op == "column"]
    while queue:
        name = queue.pop(0)
        if name in descriptions:
            continue
        if name in derived:
            descriptions[name] = _prepend_doc(derived[name].column.doc, describe_expression(derived[name].value))
            queue += [item.name for item in derived[name].value.walk() if item.op == "column"]
        elif name in tallies:
            tally = tallies[name]
            where = f" where {describe_expression(tally.where)}" if tally.where else ""
            agreeing = "".join(f", {item}" for item in _describe_pairs(tally.on))
            descriptions[name] = _prepend_doc(tally.column.doc, f"number of rows of `{tally.of}`{where}{agreeing}")
        else:
            descriptions[name] = plain[name].doc if name in plain else ""
    return list(descriptions.items())


def _prepend_doc(doc: str, text: str) -> str:
    return f"{doc} ({text})" if doc else text


def describe_sampling(metric: Metric, grain: Grain) -> str:
    """Describe the rows or groups that give a metric one sample each."""
    row = _decapitalize(grain.doc or grain.name)
    if metric.reduction is not None:
        groups, reduction = _list_names(metric.reduction.by) or "run", _describe_reduction(metric)
        return f"one sample for each {groups}: {reduction}, over rows of `{grain.name}` ({row})"
    return f"one sample for each row of `{grain.name}` ({row})"


def describe_series_rows(grain: Grain, package: Package) -> str:
    """Name the series whose values are the rows of a grain; empty for other grains."""
    return (
        f", a value of series `{grain.relation}`"
        if grain.relation in {series.name for series in package.series}
        else ""
    )


def describe_runs(grain: Grain) -> str:
    """Describe the rows of a grain of runs of another; empty for a grain over a relation."""
    if (runs := grain.runs) is None:
        return ""
    condition = describe_expression(runs.holds)
    text = f"the longest runs of rows of `{runs.of}` where {condition}, next to each other in `{runs.along}` among "
    return text + "those that the filters accept" + (f", for each {_list_names(runs.by)}" if runs.by else "")


def _list_names(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _describe_reduction(metric: Metric) -> str:
    assert metric.reduction is not None
    if metric.reduction.kind in HISTOGRAMS:
        return f"the centile {metric.reduction.centile:g} of a histogram with the counts `{metric.reduction.counts}`"
    kinds = {"min": "the smallest", "max": "the greatest", "sum": "the sum", "count": "the number of values"}
    if metric.reduction.kind == "centile":
        return f"the centile {metric.reduction.centile:g}"
    return kinds[metric.reduction.kind]


def describe_average(metric: Metric, checked: CheckedPackage, summary: str) -> str:
    """Describe the average of a metric."""
    if not metric.per:
        return "average = mean of all samples"
    definition = next((item for item in checked.package.summaries if item.name == summary), None)
    method = f"{summary}: {_decapitalize(definition.doc)}" if definition and definition.doc else summary
    which = "that has samples" if metric.sampled_only else "(all 0 without samples)"
    return f"one distribution for each `{metric.per}` {which}; average = over these ({method or 'mean of means'})"


def _decapitalize(text: str) -> str:
    return text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text


def describe_metric(metric: Metric, checked: CheckedPackage, summary: str) -> str:
    """Describe the whole definition of a metric."""
    grain = next(item for item in checked.package.grains if item.name == metric.grain)
    parts = [describe_expression(metric.measure)]
    parts[0] += f", in {metric.unit.symbol}" if metric.unit.symbol else ""
    where = f", where {describe_expression(metric.where)}" if metric.where else ""
    parts.append(
        describe_sampling(metric, grain)
        + describe_series_rows(grain, checked.package)
        + where
        + (", if the filters accept it" if metric.accepted else "")
    )
    parts.append(describe_average(metric, checked, summary))
    return "; ".join(parts)


def describe_formula(metric: Metric) -> str:
    """Describe the whole definition of a formula."""
    over = ", ".join(f"`{name}`" for name in formula.list_inputs(metric.measure))
    unit = metric.unit.symbol
    formatted = formula.format_formula(metric.measure)
    text = f"{formatted}{f', in {unit}' if unit else ''}; computed from the averages of {over}"
    return text + (f", or from their values on each row of `{metric.grain}`" if metric.grain else "")


def list_formula_conversions(metric: Metric) -> list[str]:
    """Return each unit conversion in a formula with its exact factor."""
    return [f"1 {unit} = {factor} {base}" for unit, factor, base in formula.list_conversions(metric.measure)]


def describe_series(series: Series) -> str:
    """Describe the whole definition of a series."""
    if series.terms and series.value:
        return _describe_computed(series, series.value)
    text = _describe_intervals(series) if series.has_intervals else _describe_readings(series)
    text += f"; a line for each {_list_names(series.by)}" if series.by else ""
    if series.gone:
        end = _describe_samples(series.gone.event, series.gone.where)
        text += f"; a line ends at {end} of the same {_list_names(series.gone.on)}"
        text += ", or where these cease while others continue" if series.ceases else ""
    return text + (f"; in {series.unit.symbol}" if series.unit.symbol else "")


def _describe_readings(series: Series) -> str:
    """Describe what is read at each step."""
    value = f" ({describe_expression(series.value)})" if series.value else ""
    read = {
        "latest": f"the last sample{value} of the last {describe_window(series)}",
        "rate": f"the increase per second of the counter{value} over {describe_window(series)}",
    }[series.reading]
    if series.covered:
        read += ", where samples cover these,"
    sources = ", else ".join(_describe_samples(item.event, item.where) for item in series.samples)
    return f"{read} of {sources}, read {_describe_steps(series)} of each of `{series.windows}`"


def _describe_intervals(series: Series) -> str:
    """Describe how the records of each interval are combined."""
    value = describe_expression(series.value) if series.value else "field `value`"
    read = "number of records" if series.reading == "count" else f"{series.reading} {value}"
    if series.reading in ("sum", "mean", "increase"):
        read = f"{series.reading} of {value}"
    sources = " and ".join(_describe_samples(item.event, item.where) for item in series.samples)
    intervals = "whole intervals" if series.covered or series.per_second else "intervals"
    text = f"the {read} of {sources} in {intervals} of {describe_interval(series)} of each of `{series.windows}`"
    return f"{text}, divided by its seconds" if series.per_second else text


def _describe_computed(series: Series, value: Expression) -> str:
    terms = ", ".join(f"`{term.name}` is {LINES[term.over]}`{term.series}`" for term in series.terms)
    lines = f"; a line for each {_list_names(series.by)}" if series.by else ""
    return f"{describe_expression(value)}, wherever all of these have a value: {terms}{lines}" + (
        f"; in {series.unit.symbol}" if series.unit.symbol else ""
    )


def _describe_samples(event: str, where: Expression | None) -> str:
    return f"`{event}`" + (f" where {describe_expression(where)}" if where else "")


def describe_window(series: Series) -> str:
    """Describe how far back the readings of a series look: a duration, or a constant of the run."""
    return _format_duration(series.window, series.window_ns)


def describe_interval(series: Series) -> str:
    """Describe the distance between the steps of a series: a duration, or a constant of the run."""
    return _format_duration(series.every, series.every_ns)


def _describe_steps(series: Series) -> str:
    return f"at steps of the run's {series.every}" if series.every else f"every {_format_seconds(series.every_ns)}"


def _format_duration(constant: str, ns: int) -> str:
    return f"the run's {constant}" if constant else _format_seconds(ns)


def _format_seconds(ns: int) -> str:
    return f"{format_exact(ns, 9)} s"


def list_conversions(metric: Metric, checked: CheckedPackage) -> list[str]:
    """Return each unit conversion that a value goes through, with its factor."""
    grain = next(item for item in checked.package.grains if item.name == metric.grain)
    steps = [text for node in _walk_definition(metric.measure, grain) for text in _describe_conversion(node)]
    measured = checked.measured[metric.id]
    if Fraction(measured.factor) != 1:
        symbol = metric.unit.symbol or metric.unit.name
        steps.append(f"{measured.unit} to {symbol}: × {measured.factor}")
    return list(dict.fromkeys(steps))


def _walk_definition(node: Expression, grain: Grain) -> Iterator[Expression]:
    """Yield the nodes of an expression and of the columns and instants that it is computed from."""
    derived = {item.column.name: item.value for item in grain.derived}
    derived |= {item.name: item.value for item in grain.instants if item.value}
    visited: set[str] = set()
    queue = [node]
    while queue:
        for item in queue.pop(0).walk():
            yield item
            if item.op in ("column", "instant") and item.name in derived and item.name not in visited:
                visited.add(item.name)
                queue.append(derived[item.name])


def _describe_conversion(node: Expression) -> Iterator[str]:
    if node.op == "whole":
        yield f"to {node.unit}: × {node.factor}, cut to a whole number sample by sample"
    elif node.op == "quantity" and node.factor not in ("", "1"):
        yield f"{formula.format_quantity(str(node.number), node.unit)}: × {node.factor}"
    elif node.op == "as_unit":
        yield f"{describe_expression(node.operands[0])}: counted as {describe_unit(node.unit)}, no conversion"


def describe_fallbacks(metric: Metric, grain: Grain) -> list[str]:
    """Describe what replaces missing values in a metric's measure."""
    return list(
        dict.fromkeys(
            f"{describe_expression(node.operands[index])}, if missing: {describe_expression(after)}"
            for node in _walk_definition(metric.measure, grain)
            if node.op == "coalesce"
            for index, after in enumerate(node.operands[1:])
        )
    )


def describe_field(forms: Iterable[tuple[str, Field]]) -> tuple[str, ...]:
    """Describe how the text of a field is transformed, and its default, each once.

    `forms` are the forms that are read: the place of the field as text, and the field. A place is named where forms
    differ.
    """
    changed = [(place, list(_describe_transforms(item))) for place, item in forms]
    common = set.intersection(*(set(texts) for _, texts in changed)) if changed else set()
    lines = [text if text in common else f"of {place} {text}" for place, texts in changed for text in texts]
    return tuple(dict.fromkeys(lines))


_QUANTITIES = {
    "duration": "a duration, in nanoseconds",
    "size": "a size, in bytes",
    "instant": "an instant, in nanoseconds since 1970",
    "clockDuration": "a duration as a clock shows it, in ns",
    "binarySize": "a size, in bytes (kB = 1024 bytes)",
    "grouped": "a number with commas between thousands",
    "decimalComma": "a number with a decimal comma",
    WITH_UNIT: "converted from the unit behind it",
}


def _describe_transforms(field: Field) -> Iterator[str]:
    for change in field.transforms:
        if change.kind == "take":
            yield f"its first {change.number} characters"
        elif change.kind == "before":
            yield f"what is before “{change.text}”"
        elif change.kind == NO_VALUE:
            yield f"“{change.text}” is no value"
        elif change.kind == "plus":
            yield f"{'plus' if change.number >= 0 else 'less'} {abs(change.number)}"
        elif change.kind == UNIT_OF:
            yield f"converted from the unit in {change.text}"
        else:
            yield _QUANTITIES[change.kind]
    if field.default is not None:
        yield f"if missing: {field.default or 'empty'}"


def list_quirks(package: Package, relations: Iterable[str]) -> list[tuple[str, str]]:
    """Return the relations with choices for compatibility, each with the comment that describes one."""
    relations_by_name = {item.name: item for item in package.relations}
    return [
        (name, text)
        for name in relations
        if name in relations_by_name
        for text in list_compatibility_comments(relations_by_name[name].sql)
    ]


def list_compatibility_comments(sql: str) -> list[str]:
    """Return the comments of a SQL text that begin with `Compatibility:`, each to its end."""
    comments = re.findall(r"(?:^[ \t]*--[^\n]*\n?)+", sql, re.MULTILINE)
    texts = []
    for comment in comments:
        lines = [line.strip().removeprefix("--").strip() for line in comment.strip().splitlines()]
        start = next((index for index, line in enumerate(lines) if line.startswith("Compatibility:")), None)
        if start is not None:
            texts.append(" ".join(lines[start:]).removeprefix("Compatibility:").strip())
    return texts


def describe_filter(item: Filter, grain: str) -> str:
    """Describe the condition of a filter on the rows of a grain."""
    return " and ".join(
        describe_expression(condition.holds) for condition in item.conditions if condition.grain == grain
    )
