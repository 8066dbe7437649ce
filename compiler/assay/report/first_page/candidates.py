"""List the metrics and segments of a comparison that its first page may name, each with its row and its relevance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from assay.judgement.interval import Comparison
from assay.judgement.report_judgements import JudgedChange, ReportJudgements
from assay.judgement.verdict import Judgement, Verdict
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.lang.model.report import Report
from assay.lang.segments import get_whole, is_pooled, is_segment, list_values_of_segment, name_segment
from assay.number_styles.prefixed import format_change_within, format_percent, format_percent_change, format_value
from assay.number_styles.row import NO_VALUE
from assay.number_styles.unit_prefix import choose_prefix
from assay.report.first_page.answer import JudgedRow, JudgedSegment
from assay.report.first_page.explaining_segment import create_segment_change, find_explaining_segment
from assay.report.formatted_text import name_anchor
from assay.report.judged_cells import (
    format_change_interval,
    get_arrow,
    get_reason,
    get_word,
)
from assay.report.row_units import RowUnit
from assay.report.run_results import RunFigures, get_average
from assay.report.sections import SectionContext
from assay.report.verdicts.recorded_change import RecordedChange, record_change
from assay.util.numbers import format_count

MOST_SEGMENTS = 3
_RANKS = {Verdict.DATA_LOST: 2, Verdict.CANNOT_TELL: 2, Verdict.SAME: 3, Verdict.NO_INTERVAL: 4}


@dataclass(frozen=True, slots=True)
class Candidate:
    """The change of a metric of the report, and its line of the plot.

    `is_key` says that the gate of the report names the metric. `segment_verdicts` are those of its segments, where one
    by itself cannot tell. `segments` are those that are worse or better, each with its certain change in percent, the
    largest first; `explained_by` has the values of the segment that most of the change comes from: `kind=write`.
    """

    change: RecordedChange
    row: JudgedRow
    is_key: bool = False
    segment_verdicts: tuple[Verdict, ...] = ()
    segments: tuple[tuple[float, JudgedSegment], ...] = ()
    explained_by: str = ""

    @property
    def relevance(self) -> tuple[int, float]:
        """The sort key of metrics on the page: gated ones first, then those that changed, then by certain change.

        Of others, those come first whose interval says most.
        """
        change, size = self.change, self.change.certain_change
        rank = _RANKS.get(Verdict(change.verdict))
        if rank and (ends := change.judged_ends) and ends[1] > ends[0]:
            judged = change.difference if change.percent is None else change.percent
            size = abs(judged or 0.0) / (ends[1] - ends[0])
        return 0 if self.is_key else rank or 1, -size


def list_candidates(
    context: SectionContext, judgements: ReportJudgements, runs: tuple[RunFigures, RunFigures]
) -> Iterator[Candidate]:
    """Yield each compared metric once, in the order of the report, without segments: these are part of the whole."""
    checked, report, summary = context.checked, context.report, context.choices.summary
    named = set(report.judgement.gate) if report.judgement else set()
    sections = {name: title for title, names in reversed(report.metric_tables) for name in names}
    for name in (item for item in report.compared_metrics if not is_segment(item)):
        metric, judged = checked.get_metric(name), judgements.changes[name, runs[1].id]
        change = _record_change(judgements, metric, sections[name], runs, summary)
        sized_segments = _list_segments(checked, report, metric, runs[1].id, judgements)
        segments = [segment for _, segment in sized_segments]
        named_segments = [*segments, *_list_groups(judgements, name, runs[1].id)]
        row = replace(
            _build_row(judged, change, context.units.get(metric.id)),
            segments=tuple(named_segments[:MOST_SEGMENTS]),
            more_segments=max(0, len(named_segments) - MOST_SEGMENTS),
        )
        if not segments and (counted := _count_groups(judgements, name, runs[1].id)):
            row = replace(row, within=counted)
        changes = (judgements.changes[item, runs[1].id] for item in _name_segments(report, metric))
        verdicts = tuple(Verdict.CANNOT_TELL if item.is_by_itself else item.judgement.verdict for item in changes)
        explained_by = _find_explanation(checked, runs, summary, judgements, [name, *_list_alike(judged, segments)])
        yield Candidate(change, row, name in named, verdicts, tuple(sized_segments), explained_by)


def _record_change(
    judgements: ReportJudgements, metric: Metric, section: str, runs: tuple[RunFigures, RunFigures], summary: str
) -> RecordedChange:
    base, value = (get_average(run, metric, summary) for run in runs)
    return record_change(judgements, metric, runs[1].id, section, (base, value))


def _list_alike(change: JudgedChange, segments: Sequence[JudgedSegment]) -> list[str]:
    """Return the segments with the verdict of the whole metric."""
    return [item.metric for item in segments if item.verdict == get_word(change)]


def _find_explanation(
    checked: CheckedPackage,
    runs: tuple[RunFigures, RunFigures],
    summary: str,
    judgements: ReportJudgements,
    names: Sequence[str],
) -> str:
    """Return the values of the segment that explains the change of a metric, the first name; empty if none does."""
    whole, *segments = (
        create_segment_change(
            name,
            [get_average(run, checked.get_metric(name), summary) for run in runs],
            judgements.changes[name, runs[1].id].sizes,
        )
        for name in names
    )
    segment = find_explaining_segment(whole, segments)
    return ", ".join(f"{name}={value}" for name, value in list_values_of_segment(segment).items())


def list_gated_segments(
    context: SectionContext, judgements: ReportJudgements, runs: tuple[RunFigures, RunFigures]
) -> Iterator[Candidate]:
    """Yield the segments that the gate names: they are key changes, but not among the metrics that are counted."""
    for name in filter(is_segment, judgements.gated):
        metric, judged = context.checked.get_metric(name), judgements.changes[name, runs[1].id]
        change = _record_change(judgements, metric, "", runs, context.choices.summary)
        yield Candidate(change, _build_row(judged, change, context.units.get(metric.id)), is_key=True)


def _list_segments(
    checked: CheckedPackage, report: Report, whole: Metric, run: str, judgements: ReportJudgements
) -> list[tuple[float, JudgedSegment]]:
    """Return the segments of a metric in the sections that are worse or better, the largest certain change first.

    Each has the size of this change. Those that pool further values are none of them: they name nothing that explains
    a change.
    """
    sections = _name_segments(report, whole)
    changes = [(name, judgements.changes[name, run]) for name in sections if not is_pooled(name)]
    sized = [
        (_measure_certain_change(change.judgement), name, change)
        for name, change in changes
        if change.judgement.verdict in (Verdict.WORSE, Verdict.BETTER) and not change.is_by_itself
    ]
    return [
        (
            size,
            JudgedSegment(
                name,
                sections[name],
                checked.get_metric(name).name.removeprefix(f"{whole.name}: "),
                _format_size(change.judgement.comparison),
                get_word(change),
                get_arrow(change),
            ),
        )
        for size, name, change in sorted(sized, key=lambda item: (-item[0], item[1]))
        if change.judgement.comparison
    ]


def _list_groups(judgements: ReportJudgements, metric: str, run: str) -> list[JudgedSegment]:
    """Return the values of another column than a dimension, such as hosts, that are worse or better, as a table counts.

    The largest certain change is first.
    """
    changed = [
        (-_measure_certain_change(change.judgement), value, change)
        for value, change in judgements.grouped.get((metric, run), {}).items()
        if change.judgement.verdict in (Verdict.WORSE, Verdict.BETTER)
    ]
    column = judgements.grouped_by
    return [
        JudgedSegment(
            name_segment(metric, (column,), (value,)),
            "",
            f"{column} {value}",
            _format_size(change.judgement.comparison),
            get_word(change),
            get_arrow(change),
        )
        for _, value, change in sorted(changed, key=lambda item: item[:2])
        if change.judgement.comparison
    ]


def _count_groups(judgements: ReportJudgements, metric: str, run: str) -> str:
    """Return how many values of a column are worse and better: `11 of 50 hosts worse`; empty if none is."""
    changes = judgements.grouped.get((metric, run), {})
    counts = Counter(change.judgement.verdict for change in changes.values())
    every = f" of {format_count(len(changes), judgements.grouped_by)}"
    parts = [f"{counts[verdict]}{every} {verdict}" for verdict in (Verdict.WORSE, Verdict.BETTER) if counts[verdict]]
    return ", ".join(parts)


def _name_segments(report: Report, whole: Metric) -> dict[str, str]:
    """Return the segments of a metric in the sections, each with the id of its table; empty if each run has one."""
    return {
        name: "" if report.phases else name_anchor(place)
        for place, section in reversed(report.metric_sections)
        for name in section.metrics
        if is_segment(name) and get_whole(name) == whole.id
    }


def _build_row(judged: JudgedChange, change: RecordedChange, unit: RowUnit | None) -> JudgedRow:
    base, value = format_values((change.base, change.value), change.unit, unit)
    if change.percent is not None and change.low is not None and change.high is not None:
        text = format_change_within(change.percent, change.low, change.high, change.least_margin)
    else:
        text = format_percent(change.base, change.value)
    return JudgedRow(
        change.metric,
        change.name,
        base,
        value,
        text if text == NO_VALUE else f"{text} %",
        format_change_interval(judged, change.unit),
        change.verdict,
        get_arrow(judged),
        " / ".join(map(str, judged.sizes)) if judged.sizes else "",
        change.percent,
        change.low,
        change.high,
        change.least_margin,
        get_reason(judged),
        is_by_itself=change.is_by_itself,
    )


def _measure_certain_change(judgement: Judgement) -> float:
    """Return how far an interval is from no change, in percent; any change from 0 is the largest."""
    distance = judgement.interval.distance if judgement.interval else 0.0
    return math.inf if distance and judgement.comparison and not judgement.comparison.percent else distance


def _format_size(comparison: Comparison) -> str:
    return f"{format_percent_change(comparison.percent.value)} %" if comparison.percent else "from 0"


def format_values(averages: Sequence[float | None], symbol: str, unit: RowUnit | None = None) -> tuple[str, ...]:
    """Return values with three digits and their unit, which suits them by default."""
    factor, symbol = unit or choose_prefix(averages, symbol)
    # Signs such as that of a ratio are no units of a value.
    ending = f" {symbol}" if any(letter.isalnum() or letter == "%" for letter in symbol) else ""
    return tuple(
        NO_VALUE if value is None else f"{format_value(value * factor.numerator / factor.denominator)}{ending}"
        for value in averages
    )
