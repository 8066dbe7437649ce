"""Render conclusions: rules about the averages of metrics, and whether they hold."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from assay.lang.blocks.conclusion import FALLS, RISES, STAYS, Conclusion, Rule
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.report.blocks.comparison import compare_averages, list_groups, title_table
from assay.report.blocks.context import RenderContext, Rendered, renders
from assay.report.cell_links import AVERAGE, JUDGED, PERCENT, WORDS, CellLink, CellSource
from assay.report.document import Table
from assay.report.run_results import RunFigures
from assay.styles.exact_decimal import decimal_value, on_its_side, percent_change
from assay.styles.registry import Style

NEITHER = "neither"
HOLDS = {True: "yes", False: "no", None: "no value"}


@renders(Conclusion, position=110)
def render(context: RenderContext, items: Sequence[Conclusion]) -> Rendered:
    """Render a table of all runs, or of the phases of each run, for each conclusion."""
    groups = list(list_groups(context))
    tables = tuple(
        title_table(conclusion(context.checked, context.look, item, columns, named), label)
        for item in items
        for columns, named, label in groups
        if len(columns) > 1
    )
    return Rendered(tables=tables, gaps=() if tables else ("There is nothing to compare with.",))


def conclusion(
    checked: CheckedPackage, look: Style, item: Conclusion, columns: Sequence[RunFigures], named: Sequence[str]
) -> Table:
    """A row for each rule and column but the first: the two averages, what is expected, and whether it is so."""
    many = len(columns) > 2
    rows = [
        (*((name,) if many else ()), *_judged(checked, look, rule, columns[0], run))
        for rule in item.rules
        for run, name in zip(columns[1:], named[1:], strict=True)
    ]
    values = (named[0], "there" if many else "".join(named[1:]), "Δ%")
    header = (*(("",) if many else ()), "Metric", *values, "Rule", "Holds")
    means = tuple(rule.metric for rule in item.rules for _ in columns[1:])
    others = [run.id for _ in item.rules for run in columns[1:]]
    leads = tuple(
        lead
        for place, (metric, run) in enumerate(zip(means, others, strict=True))
        for lead in link_cells(place, len(header) - 5, metric, (columns[0].id, run))
    )
    return Table(item.title, header, tuple(rows), of_rows=means, leads=leads)


def link_cells(row: int, first: int, metric: str, runs: tuple[str, str]) -> Iterator[CellLink]:
    """The cells of a rule from the base's average on, which stands in column `first`."""
    base, other = (CellSource(metric, run) for run in runs)
    made = (AVERAGE, (base,)), (AVERAGE, (other,)), (PERCENT, (base, other)), (WORDS, ()), (JUDGED, (base, other))
    for column, (prints, of) in enumerate(made, start=first):
        yield CellLink(row, column, prints, of)


def _judged(checked: CheckedPackage, look: Style, rule: Rule, base: RunFigures, run: RunFigures) -> tuple[str, ...]:
    metric = checked.metric(rule.metric)
    values, row = compare_averages(checked, look, rule.metric, (base, run))
    told = percent_told(rule, metric, values, row[4])
    return row[0], row[1], row[2], told, in_words(rule, metric), HOLDS[holds(rule, metric, *values)]


def in_words(rule: Rule, metric: Metric) -> str:
    """What a rule says."""
    if rule.kind in (FALLS, RISES):
        return f"{rule.kind} by at least {rule.percent} %"
    worse = {"lower": "higher", "higher": "lower"}.get(metric.better, "other")
    if rule.kind == STAYS or worse == "other":
        return f"changes by at most {rule.percent} %"
    return f"at most {rule.percent} % {worse}"


def holds(rule: Rule, metric: Metric, old: float | None, new: float | None) -> bool | None:
    """Whether a rule holds of two averages, as their decimal texts have them; None when one is no finite number."""
    if old is None or new is None or not (math.isfinite(old) and math.isfinite(new)):
        return None
    base, value = decimal_value(old), decimal_value(new)
    if not base:  # any change of it is more than any percent
        return allows(rule.kind, 0, metric, value)
    return allows(rule.kind, rule.percent, metric, percent_change(base, value))


def percent_told(rule: Rule, metric: Metric, values: Sequence[float | None], shown: str) -> str:
    """The change from the first value to the second in percent: as the number style shows it (`shown`), unless the rule
    would come out another way by that; then of the first value's amount, with as many more decimals as it takes."""
    old, new = values
    due = holds(rule, metric, old, new)
    printed = _number(shown)
    if due is None or not old or new is None or printed is None:
        return shown
    if allows(rule.kind, rule.percent, metric, printed) == due:
        return shown
    change = percent_change(decimal_value(old), decimal_value(new))
    decimals = len(shown.partition(".")[2]) + 1
    return on_its_side(change, decimals, lambda found: allows(rule.kind, rule.percent, metric, found) == due)


def allows(kind: str, limit: int, metric: Metric, change: Fraction) -> bool:
    """Whether a change, in percent of the amount of what it is from, is as a rule of this kind and limit wants it."""
    if kind == FALLS:
        return -change >= limit and change < 0
    if kind == RISES:
        return change >= limit and change > 0
    worse = {"lower": change, "higher": -change}.get(metric.better, abs(change))
    return (abs(change) if kind == STAYS else worse) <= limit


def _number(text: str) -> Fraction | None:
    """The number that a cell shows; None where it shows none."""
    try:
        return Fraction(Decimal(text))
    except (InvalidOperation, ValueError, OverflowError):
        return None
