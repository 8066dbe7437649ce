"""Render conclusions: rules on the averages of metrics, and whether they hold."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from assay.judgement.report_judgements import ReportJudgements
from assay.lang.blocks.conclusion import FALLS, RISES, STAYS, Conclusion, Rule
from assay.lang.model.package import Metric
from assay.number_styles.cell_text import get_value, print_number
from assay.number_styles.exact_decimal import format_on_same_side, to_fraction
from assay.number_styles.row import NO_VALUE
from assay.report.blocks.context import RenderContext, RenderedBlocks, register_renderer
from assay.report.blocks.section import find_judgements, list_groups, title_table
from assay.report.cell_links import AVERAGE, INTERVAL, JUDGED, PERCENT, WORDS, CellLink, CellSource, CellVerdict
from assay.report.judged_cells import format_judged_cells, name_judged_columns
from assay.report.rules import Outcome, decide_rule, is_change_allowed
from assay.report.run_results import get_average
from assay.report.sections import choose_unit_of_values, compare_values
from assay.report.tables import Table
from assay.report.versions import Version
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
        title_table(build_conclusion_table(context, item, versions), label)
        for item in items
        for versions, label in groups
        if len(versions) > 1
    )
    return RenderedBlocks(tables=tables, gaps=() if tables else ("There is no other run or phase to compare with.",))


def build_conclusion_table(context: RenderContext, item: Conclusion, versions: Sequence[Version]) -> Table:
    """Build a table with a row for each rule and version but the first: averages, the rule, and whether it holds.

    If the report judges its differences, the interval of each decides.
    """
    base, *others = versions
    has_many_columns = len(others) > 1
    judgements = find_judgements(context, versions)
    cells = [(rule, version) for rule in item.rules for version in others]
    built_rows = [_build_row(context, rule, base, version, judgements) for rule, version in cells]
    rows = [
        (*((version.label,) if has_many_columns else ()), *row.texts)
        for (_, version), row in zip(cells, built_rows, strict=True)
    ]
    values = (base.label, "value" if has_many_columns else "".join(version.label for version in others), "Δ%")
    interval = name_judged_columns(judgements.level)[:1] if judgements else ()
    header = (*(("",) if has_many_columns else ()), "Metric", *values, *interval, "Rule", "Holds")
    links = tuple(
        link
        for row, (rule, version) in enumerate(cells)
        for link in link_cells(
            row, 1 + has_many_columns, rule.metric, (base.runs, version.runs), is_judged=bool(interval)
        )
    )
    verdicts = tuple(CellVerdict(y, len(header) - 1, row.outcome) for y, row in enumerate(built_rows))
    return Table(
        item.title, header, tuple(rows), of_rows=tuple(rule.metric for rule, _ in cells), leads=links,
        row_units=tuple(row.unit for row in built_rows), verdicts=verdicts,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _RuleRow:
    """The row of a rule: its texts, the symbol of the unit of its values, and whether the rule holds, in a word."""

    texts: tuple[str, ...]
    unit: str
    outcome: str


def link_cells(
    row: int, first: int, metric: str, runs: tuple[Sequence[str], Sequence[str]], *, is_judged: bool = False
) -> Iterator[CellLink]:
    """Yield the links of a rule's row, starting with the base's average in column `first`."""
    base, other = (tuple(CellSource(metric, run) for run in ids) for ids in runs)
    both = (*base, *other)
    averages = (AVERAGE, base), (AVERAGE, other), (PERCENT, both)
    interval = ((INTERVAL, both),) if is_judged else ()
    cells = (*averages, *interval, (WORDS, ()), (JUDGED, both))
    for column, (prints, sources) in enumerate(cells, start=first):
        yield CellLink(row, column, prints, sources)


def _build_row(
    context: RenderContext, rule: Rule, base: Version, version: Version, judgements: ReportJudgements | None
) -> _RuleRow:
    metric = context.checked.get_metric(rule.metric)
    values = [get_average(item.figures, metric, context.choices.summary) for item in (base, version)]
    unit = choose_unit_of_values(context.number_style, metric, values)
    row = [cell or NO_VALUE for cell in compare_values(context.number_style, metric, values, unit=unit)]
    percent = format_percent_for_rule(rule, metric, values, row[4])
    texts = (row[0], row[1], row[2], percent)
    if judgements is None:
        holds = HOLDS[is_rule_met(rule, metric, *values)]
        return _RuleRow((*texts, describe_rule(rule, metric), holds), unit[1], holds)
    change = judgements.changes[rule.metric, version.id]
    outcome = Outcome.NO_VALUE if None in values else decide_rule(rule.kind, rule.percent, change)
    interval = format_judged_cells(change, metric.unit.symbol)[0]
    return _RuleRow((*texts, interval, describe_rule(rule, metric), outcome.value), unit[1], outcome.value)


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
    printed_number = _get_number(printed_percent)
    if is_met is None or not old or new is None or printed_number is None:
        return printed_percent
    if is_change_allowed(rule.kind, rule.percent, metric.better, printed_number) == is_met:
        return printed_percent
    change = compute_percent_change(to_fraction(old), to_fraction(new))
    decimals = len(printed_percent.partition(".")[2]) + 1
    percent = format_on_same_side(
        change,
        decimals,
        lambda percent: is_change_allowed(rule.kind, rule.percent, metric.better, percent) == is_met,
    )
    return print_number(percent)


def _get_number(text: str) -> Fraction | None:
    """Return the number that a cell prints; None if it prints none."""
    value = get_value(text)
    return to_fraction(value) if isinstance(value, (int, float)) else None
