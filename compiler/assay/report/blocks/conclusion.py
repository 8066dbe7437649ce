"""Render conclusions: rules on the averages of metrics, and whether they hold."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from assay.judgement.report_judgements import ReportJudgements
from assay.lang.blocks.conclusion import FALLS, RISES, STAYS, Conclusion, Rule
from assay.lang.model.package import Metric
from assay.number_styles.exact_decimal import format_on_same_side, to_fraction
from assay.report.blocks.comparison import compare_averages, find_judgements, list_groups, title_table
from assay.report.blocks.context import RenderContext, RenderedBlocks, register_renderer
from assay.report.cell_links import AVERAGE, INTERVAL, JUDGED, PERCENT, WORDS, CellLink, CellSource
from assay.report.document import Table
from assay.report.judged_cells import format_judged_cells, name_judged_columns
from assay.report.rules import Outcome, decide_rule, is_change_allowed
from assay.report.run_results import RunFigures
from assay.util.percent_change import compute_percent_change

NEITHER = "neither"
#: the first word of a rule that limits a change in both directions
CHANGES = "changes"
HOLDS = {True: Outcome.HOLDS.value, False: Outcome.VIOLATED.value, None: Outcome.NO_VALUE.value}


@register_renderer(Conclusion)
def render(context: RenderContext, items: Sequence[Conclusion]) -> RenderedBlocks:
    """Render a table of all runs, or of the phases of each run, for each conclusion."""
    groups = list(list_groups(context))
    tables = tuple(
        title_table(build_conclusion_table(context, item, columns, column_labels), label)
        for item in items
        for columns, column_labels, label in groups
        if len(columns) > 1
    )
    return RenderedBlocks(tables=tables, gaps=() if tables else ("There is no other run or phase to compare with.",))


def build_conclusion_table(
    context: RenderContext, item: Conclusion, columns: Sequence[RunFigures], column_labels: Sequence[str]
) -> Table:
    """Build a table with a row for each rule and column but the first: averages, the rule, and whether it holds.

    If the report judges its differences, the interval of each decides.
    """
    has_many_columns = len(columns) > 2
    judgements = find_judgements(context, columns)
    rows = [
        (*((name,) if has_many_columns else ()), *_build_row(context, rule, columns[0], run, judgements))
        for rule in item.rules
        for run, name in zip(columns[1:], column_labels[1:], strict=True)
    ]
    values = (column_labels[0], "value" if has_many_columns else "".join(column_labels[1:]), "Δ%")
    interval = name_judged_columns(judgements.level)[:1] if judgements else ()
    header = (*(("",) if has_many_columns else ()), "Metric", *values, *interval, "Rule", "Holds")
    metric_ids = tuple(rule.metric for rule in item.rules for _ in columns[1:])
    other_run_ids = [run.id for _ in item.rules for run in columns[1:]]
    links = tuple(
        link
        for row, (metric, run) in enumerate(zip(metric_ids, other_run_ids, strict=True))
        for link in link_cells(row, 1 + has_many_columns, metric, (columns[0].id, run), is_judged=bool(interval))
    )
    return Table(item.title, header, tuple(rows), of_rows=metric_ids, leads=links)


def link_cells(
    row: int, first: int, metric: str, runs: tuple[str, str], *, is_judged: bool = False
) -> Iterator[CellLink]:
    """Yield the links of a rule's row, starting with the base's average in column `first`."""
    base, other = (CellSource(metric, run) for run in runs)
    averages = (AVERAGE, (base,)), (AVERAGE, (other,)), (PERCENT, (base, other))
    interval = ((INTERVAL, (base, other)),) if is_judged else ()
    cells = (*averages, *interval, (WORDS, ()), (JUDGED, (base, other)))
    for column, (prints, sources) in enumerate(cells, start=first):
        yield CellLink(row, column, prints, sources)


def _build_row(
    context: RenderContext, rule: Rule, base: RunFigures, run: RunFigures, judgements: ReportJudgements | None
) -> tuple[str, ...]:
    metric = context.checked.get_metric(rule.metric)
    values, row = compare_averages(context.checked, context.number_style, rule.metric, (base, run))
    percent = format_percent_for_rule(rule, metric, values, row[4])
    texts = (row[0], row[1], row[2], percent)
    if judgements is None:
        return *texts, describe_rule(rule, metric), HOLDS[is_rule_met(rule, metric, *values)]
    change = judgements.changes[rule.metric, run.id]
    outcome = Outcome.NO_VALUE if None in values else decide_rule(rule.kind, rule.percent, change)
    return *texts, format_judged_cells(change, metric.unit.symbol)[0], describe_rule(rule, metric), outcome.value


def describe_rule(rule: Rule, metric: Metric) -> str:
    """Return a rule in words."""
    if rule.kind in (FALLS, RISES):
        return f"{rule.kind} by at least {rule.percent} %"
    worse_direction = {"lower": "higher", "higher": "lower"}.get(metric.better, "other")
    if rule.kind == STAYS or worse_direction == "other":
        return f"{CHANGES} by at most {rule.percent} %"
    return f"at most {rule.percent} % {worse_direction}"


def is_rule_met(rule: Rule, metric: Metric, old: float | None, new: float | None) -> bool | None:
    """Check a rule on the decimal texts of two averages; None if one is not a finite number."""
    if old is None or new is None or not (math.isfinite(old) and math.isfinite(new)):
        return None
    base, value = to_fraction(old), to_fraction(new)
    if not base:  # any change from 0 exceeds every percentage
        return is_change_allowed(rule.kind, 0, metric.better, value)
    return is_change_allowed(rule.kind, rule.percent, metric.better, compute_percent_change(base, value))


def format_percent_for_rule(rule: Rule, metric: Metric, values: Sequence[float | None], printed_percent: str) -> str:
    """Return the change from the first value to the second in percent, on the correct side of the rule's limit.
    This is `printed_percent`, the text of the number style. If the rule would have another result for it, the change is
    printed in percent of the first value's amount, with as many more decimals as needed.
    """
    old, new = values
    is_met = is_rule_met(rule, metric, old, new)
    printed_number = _parse_number(printed_percent)
    if is_met is None or not old or new is None or printed_number is None:
        return printed_percent
    if is_change_allowed(rule.kind, rule.percent, metric.better, printed_number) == is_met:
        return printed_percent
    change = compute_percent_change(to_fraction(old), to_fraction(new))
    decimals = len(printed_percent.partition(".")[2]) + 1
    return format_on_same_side(
        change,
        decimals,
        lambda percent: is_change_allowed(rule.kind, rule.percent, metric.better, percent) == is_met,
    )


def _parse_number(text: str) -> Fraction | None:
    """Return the number in a cell; None if it is not a number."""
    try:
        return Fraction(Decimal(text))
    except (InvalidOperation, ValueError, OverflowError):
        return None
