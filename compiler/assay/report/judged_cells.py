"""Write judgements as cells of tables and as notes below them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from assay.judgement.batches import LEAST_PLACED
from assay.judgement.interval import Component, Note, Reason
from assay.judgement.report_judgements import JudgedChange, ReportJudgements
from assay.judgement.verdict import VERDICT_ORDER, Judgement, Verdict
from assay.lang.model.package import Metric
from assay.number_styles.prefixed import (
    EXACT,
    TOO_WIDE,
    format_change_within,
    format_interval,
    format_percent_interval,
)
from assay.number_styles.unit_prefix import choose_prefix
from assay.quality.finding import list_names
from assay.report.cell_links import VERDICT, CellVerdict, PrintedColumn
from assay.report.tables import MetricTable

RISE, FALL = "▲", "▼"
NO_VALUE = "–"
BY_ITSELF = ", by itself"
NO_MARGIN = "0"
EQUAL_SHARES = "at equal shares"  # of the values that both versions have
MOST_NAMES = 5
#: why a metric has no verdict, where the words of the reason are too long for a row
SHORT_REASONS = {
    Reason.FEW_SAMPLES: "few samples",
    Reason.TOO_FEW_UNITS: "few distinct times",
    Reason.ONE_UNIT: "a single time",
}
CERTAIN = (Verdict.BETTER, Verdict.WORSE, Verdict.CHANGED)


def name_judged_columns(level: float) -> tuple[str, str]:
    """Return the headings of interval and verdict."""
    return f"{100 * level:g} %", "Verdict"


def format_judged_cells(change: JudgedChange, unit: str) -> tuple[str, str]:
    """Return the interval of a change (without one, a dash) and the verdict: `▲ worse`, `same`, `no interval`."""
    if change.judgement.interval is None:
        return NO_VALUE, get_word(change)
    return format_change_interval(change, unit), format_verdict(
        get_arrow(change), get_word(change), change.is_by_itself
    )


def format_change_interval(change: JudgedChange, unit: str) -> str:
    """Return the interval of a change in percent, or that of the difference from 0; empty without one.

    `unit` is the symbol of the metric's unit.
    """
    comparison, interval = change.judgement.comparison, change.judgement.interval
    if comparison is None or interval is None:
        return ""
    text = (
        format_percent_interval(interval.low, interval.high, change.judgement.margin)
        if comparison.percent
        else format_difference_interval((interval.low, interval.high), comparison.value, unit)
    )
    return f"{text} {EQUAL_SHARES}" if change.mix else text


def format_difference_interval(ends: tuple[float, float], value: float, unit: str) -> str:
    """Return the interval of the difference of a value from 0, in a unit that suits the value: `Δ +2.5 … +3.8 %`."""
    if ends[0] == ends[1]:
        return EXACT
    factor, symbol = choose_prefix([value], unit)
    low, high = (float(end * factor) for end in ends)
    return f"Δ {format_interval(low, high)} {symbol}".rstrip()


def get_word(change: JudgedChange) -> str:
    """Return the verdict as a word."""
    return change.judgement.verdict.value


def get_reason(change: JudgedChange) -> str:
    """Return in a few words why a metric has no interval, or no verdict beside it; empty without a reason."""
    reason = change.judgement.reason
    return SHORT_REASONS.get(reason, reason.value) if reason else ""


def explain_short_reasons(changes: Iterable[tuple[str, JudgedChange]]) -> str:
    """Return which metrics have a short reason, with the whole one, and what helps; empty without any.

    Each change has the label of its metric before it.
    """
    names_by_reason: dict[Reason, list[str]] = {}
    for label, change in changes:
        if change.judgement.reason in SHORT_REASONS:
            names_by_reason.setdefault(change.judgement.reason, []).append(label)
    parts = [f"{list_names(names, MOST_NAMES)} ({reason.value})" for reason, names in names_by_reason.items()]
    step = "Record more samples, or repeats (`--run v=A --run v=B`)."
    return f"No interval: {'; '.join(parts)}. {step}" if parts else ""


def get_arrow(change: JudgedChange) -> str:
    """Return in which direction a metric changed by more than its margin; empty if not, or if not known."""
    judgement = change.judgement
    if judgement.verdict not in CERTAIN or judgement.comparison is None:
        return ""
    return RISE if judgement.comparison.judged.value > 0 else FALL


def format_verdict(arrow: str, word: str, is_by_itself: bool) -> str:
    """Return a verdict in words: `▲ worse`, or `▲ worse, by itself` if so many metrics make one by chance."""
    return f"{arrow} {word}".strip() + (BY_ITSELF if is_by_itself else "")


def list_cell_verdicts(
    row: int, changes: Sequence[JudgedChange], printed: Sequence[PrintedColumn]
) -> Iterator[CellVerdict]:
    """Yield the verdicts in the cells of a row, on the change of each further version."""
    columns = (column for column, item in enumerate(printed, start=1) if item.prints == VERDICT)
    for column, change in zip(columns, changes, strict=True):
        yield CellVerdict(row, column, get_word(change), change.is_by_itself)


def mark_changes(table: MetricTable) -> list[list[str]]:
    """Return a mark for each cell of each row: of a judged change its verdict, or `noise`; others have none."""
    marks = [[""] * len(table.header) for _ in table.rows]
    for verdict in table.verdicts:
        runs = table.printed[verdict.column - 1].runs
        for column, item in enumerate(table.printed, start=1):
            if item.runs == runs:
                marks[verdict.row][column] = verdict.word if verdict.word in CERTAIN else "noise"
    return marks


def describe_change(data: Mapping[str, Any], level: float, unit: str) -> tuple[str, ...]:
    """Return sentences on a judged change, as `results.json` holds it: verdict, interval, evidence.

    `unit` is the symbol of the metric's unit, for a margin that is an amount.
    """
    if data["difference"] is None:
        return (f"{data['verdict']}: {data['reason']}",)
    sentences = [
        f"{data['verdict']}: {_describe_interval(data, level, unit)}, margin {format_margin(data['margin'], unit)}",
        _describe_evidence(data),
    ]
    if data["gate"] is not None:
        sentences.append(f"gate: p of not worse than the margin {data['gate']:.3f}, after Holm")
    if data["reason"]:
        sentences.append(data["reason"])
    return (*sentences, *data["notes"])


def _describe_evidence(data: Mapping[str, Any]) -> str:
    if data["decided_by"] == Component.EXACT:
        return f"decided by {data['decided_by']}"
    batches = f"{data['batches']} batches of {data['units']} units of time, " if data["batches"] else ""
    return f"{batches}{data['df']} degrees of freedom; decided by {data['decided_by']}"


def _describe_interval(data: Mapping[str, Any], level: float, unit: str) -> str:
    name = f"{100 * level:g} % interval"
    if data["percent"] is None:
        ends = (data["difference_low"], data["difference_high"])
        interval = format_difference_interval(ends, data["difference"], unit)
        return f"from 0, {interval if interval == EXACT else f'{name} {interval}'}"
    limits = (data["low"], data["high"], data["margin"]["least"])
    interval = format_percent_interval(*limits)
    unit_of_ends = "" if interval == TOO_WIDE else " %"
    text = interval if interval == EXACT else f"{name} {interval}{unit_of_ends}"
    return f"{format_change_within(data['percent'], *limits)} %, {text}"


def format_margin(margin: Mapping[str, Any], unit: str) -> str:
    """Return a margin: `2 %`, or `2 % or 0.5 ms`; the greater counts."""
    parts = ((margin["percent"], "%"), (margin["amount"], unit))
    return " or ".join(f"{number:g} {symbol}".rstrip() for number, symbol in parts if number) or NO_MARGIN


def get_sort_keys(change: JudgedChange) -> tuple[float, float]:
    """Return by which numbers interval and verdict are sorted: the width, and what a reader looks for first."""
    comparison, interval = change.judgement.comparison, change.judgement.interval
    width = interval.high - interval.low if interval and comparison and comparison.percent else math.inf
    return width, VERDICT_ORDER.index(change.judgement.verdict)


def list_judgement_notes(judgements: ReportJudgements, metrics: Sequence[Metric], run: str) -> Iterator[str]:
    """Yield which metrics of a table lost data, have no interval, cannot tell, or are the same beyond it, and why.

    Then how few units of time their intervals rest on.
    """
    changes = {metric.name: judgements.changes[metric.id, run].judgement for metric in metrics}
    for verdict in (Verdict.DATA_LOST, Verdict.NO_INTERVAL, Verdict.CANNOT_TELL):
        names_by_reason: dict[str, list[str]] = {}
        for name, judgement in changes.items():
            if judgement.reason and judgement.verdict is verdict:
                names_by_reason.setdefault(judgement.reason.value, []).append(name)
        if names_by_reason:
            parts = (f"{list_names(names, MOST_NAMES)} ({reason})" for reason, names in names_by_reason.items())
            yield f"{verdict.value.capitalize()}: {'; '.join(parts)}."
    inexact = [name for name, judgement in changes.items()
               if judgement.comparison and Note.NOT_EXACT in judgement.comparison.spread.notes]  # fmt: skip
    if inexact:
        yield f"Declared `exact`, but runs of one version differ: {list_names(inexact, MOST_NAMES)}."
    wide = [name for name, judgement in changes.items() if _is_same_beyond_margin(judgement)]
    if wide:
        least, level = (f"{100 * level:g} %" for level in (2 * judgements.level - 1, judgements.level))
        names = list_names(wide, MOST_NAMES)
        yield f"Same by the {least} interval, though that of {level} reaches beyond the margin: {names}."
    if few_units := describe_few_units(changes.items()):
        yield few_units


def _is_same_beyond_margin(judgement: Judgement) -> bool:
    if judgement.verdict is not Verdict.SAME or judgement.interval is None or judgement.margin is None:
        return False
    return not judgement.interval.is_within(judgement.margin)


def describe_few_units(judgements: Iterable[tuple[str, Judgement]]) -> str:
    """Return on how few units of time, and how many batches, intervals rest; empty if units are not few.

    Each judgement has the label of its metric before it. Metrics are named if only some have so few units.
    """
    comparisons = [(label, item.comparison) for label, item in judgements if item.comparison]
    few = [(label, item) for label, item in comparisons if 0 < item.units < LEAST_PLACED and item.spread.batches]
    if not few:
        return ""
    short = [item for _, item in few]
    units, batches = min(item.units for item in short), sorted({item.spread.batches for item in short})
    counts = str(batches[0]) if len(batches) == 1 else f"{batches[0]} to {batches[-1]}"
    names = f" ({list_names([label for label, _ in few])})" if len(few) < len(comparisons) else ""
    return f"{units} units of time are few: {counts} batches{names}."
