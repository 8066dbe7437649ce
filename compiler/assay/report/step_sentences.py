"""Say which step is the cause of a change, in one sentence."""

from __future__ import annotations

from dataclasses import replace

from assay.judgement.report_judgements import ReportJudgements
from assay.judgement.steps import StepChange, StepTable
from assay.lang.checked_package import CheckedPackage
from assay.number_styles.prefixed import format_delta, format_value
from assay.number_styles.unit_prefix import choose_prefix
from assay.report.judged_cells import BY_ITSELF, get_word
from assay.util.escape import escape_text

_NO_CAUSE = "no single step explains it; "


def compose_cause(table: StepTable, unit: str) -> str:
    """Return the step that is the cause of the change of a total, or why none is named; `unit` is that of the total.

    `Latency +9.67 ms (31.3 → 41.0 ms, worse): 87 % of it is Ticking (26.6 → 35.0 ms, worse).`
    """
    total, cause = table.total, table.cause
    if not total.change.judgement.is_certain or total.change.is_by_itself:
        return f"{escape_text(total.name)}: {_describe_verdict(total)}, so no step is named."
    change = _describe_change(table, unit)
    if cause is None:
        return f"{change}: {_NO_CAUSE}{_describe_part(table, table.largest, unit)}."
    return f"{change}: {_describe_part(table, cause, unit)}."


def list_causes(checked: CheckedPackage, judgements: ReportJudgements, version: str) -> dict[str, str]:
    """Return the sentences on the causes of changes of a version that agree with the tables of its report, by total.

    A cause is named once. Totals that the gate names have a sentence, too, if only their largest part is known.

    Steps are of the rows that have all instants. Where the metric of a step has another verdict over its own rows,
    nothing is said; where it has other averages, these are left to its table. So many metrics may make its verdict by
    chance, but not that of the total, of which it is the greatest part.
    """
    sentences: dict[str, str] = {}
    named: set[str] = set()
    for (metric, other), table in judgements.steps.items():
        cause = table.cause
        part = cause or table.largest
        verdict = table.total.change.judgement.verdict
        if other != version or (cause is None and metric not in judgements.gated):
            continue
        printed = judgements.changes.get((part.metric, version), part.change)
        if any(item.judgement.verdict is not verdict for item in (printed, part.change)) or part.metric in named:
            continue
        unit = checked.get_metric(metric).unit.symbol
        if printed.averages == tuple(map(float, part.averages)):
            text = _describe_part(table, replace(part, change=printed), unit)
        else:
            text = f"{format_share(table, part)} of it is {escape_text(part.name)}, in rows that have all steps"
        text = f"{_describe_change(table, unit)}: {'' if cause else _NO_CAUSE}{text}."
        sentences[metric] = text
        named |= {part.metric} if cause else set()
    return sentences


def format_share(table: StepTable, step: StepChange) -> str:
    """Return the share of a step in the change of the total, in whole percent; empty if the total did not change."""
    share = table.compute_share(step.difference)
    return "" if share is None else f"{float(100 * share):.0f} %"


def _describe_change(table: StepTable, unit: str) -> str:
    total = table.total
    base, value, symbol = _convert(total, unit)
    return f"{escape_text(total.name)} {format_delta(base, value)} {symbol} ({_describe(total, unit)})"


def _describe_part(table: StepTable, step: StepChange, unit: str) -> str:
    return f"{format_share(table, step)} of it is {escape_text(step.name)} ({_describe(step, unit)})"


def _describe(step: StepChange, unit: str) -> str:
    base, value, symbol = _convert(step, unit)
    return f"{format_value(base)} → {format_value(value)} {symbol}, {_describe_verdict(step)}"


def _describe_verdict(step: StepChange) -> str:
    return f"{get_word(step.change)}{BY_ITSELF if step.change.is_by_itself else ''}"


def _convert(step: StepChange, unit: str) -> tuple[float, float, str]:
    """Return the averages of a step in a unit that suits them, and its symbol."""
    factor, symbol = choose_prefix(list(map(float, step.averages)), unit)
    base, value = (float(item * factor) for item in step.averages)
    return base, value, symbol
