"""List the metrics and segments of a comparison that its first page may name, each with its row and its relevance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

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
    format_margin,
    get_arrow,
    get_reason,
    get_word,
)
from assay.report.mixes import build_mix_data
from assay.report.row_units import RowUnit
from assay.report.run_results import RunFigures, get_average
from assay.report.sections import SectionContext
from assay.util.numbers import format_count

MOST_SEGMENTS = 3
_RANKS = {Verdict.DATA_LOST: 2, Verdict.CANNOT_TELL: 2, Verdict.SAME: 3, Verdict.NO_INTERVAL: 4}


@dataclass(frozen=True, slots=True)
class Candidate:
    """The change of a metric of the report, its line of the plot, and the section that shows it first.

    `is_key` says that the gate of the report names the metric. `segment_verdicts` are those of its segments, where one
    by itself cannot tell. `segments` are those that are worse or better, each with its certain change in percent, the
    largest first; `explained_by` has the values of the segment that most of the change comes from: `kind=write`. `unit`
    is the symbol of the metric's unit.
    """

    change: JudgedChange
    row: JudgedRow
    section: str
    is_key: bool = False
    segment_verdicts: tuple[Verdict, ...] = ()
    segments: tuple[tuple[float, JudgedSegment], ...] = ()
    explained_by: str = ""
    unit: str = ""

    @property
    def verdict(self) -> Verdict:
        """The verdict on the metric."""
        return self.change.judgement.verdict

    @property
    def paired(self) -> Mapping[str, Any]:
        """What its segments show together, as `results.json` has it; empty if each is judged, or has other samples."""
        return self.change.paired.to_json() if self.change.paired else {}

    @property
    def mix(self) -> Mapping[str, Any]:
        """How its samples differ between the versions, as `results.json` has it; empty if they do not."""
        mix = self.change.mix
        return build_mix_data(mix, self.change.judgement.comparison) if mix else {}

    @property
    def margin(self) -> str:
        """The margin in words."""
        return format_margin(asdict(self.change.margin), self.unit)

    @property
    def relevance(self) -> tuple[int, float]:
        """The sort key of metrics on the page: gated ones first, then those that changed, then by certain change.

        Of others, those come first whose interval says most.
        """
        comparison, interval = self.change.judgement.comparison, self.change.judgement.interval
        size = _measure_certain_change(self.change.judgement)
        if self.verdict in _RANKS and comparison and interval and interval.high > interval.low:
            size = abs(comparison.judged.value) / (interval.high - interval.low)
        return 0 if self.is_key else _RANKS.get(self.verdict, 1), -size


def list_candidates(
    context: SectionContext, judgements: ReportJudgements, runs: tuple[RunFigures, RunFigures]
) -> Iterator[Candidate]:
    """Yield each compared metric once, in the order of the report, without segments: these are part of the whole."""
    checked, report, summary = context.checked, context.report, context.choices.summary
    named = set(report.judgement.gate) if report.judgement else set()
    sections = {name: title for title, names in reversed(report.metric_tables) for name in names}
    for name in (item for item in report.compared_metrics if not is_segment(item)):
        metric, change = checked.get_metric(name), judgements.changes[name, runs[1].id]
        averages = [get_average(run, metric, summary) for run in runs]
        sized_segments = _list_segments(checked, report, metric, runs[1].id, judgements)
        segments = [segment for _, segment in sized_segments]
        named_segments = [*segments, *_list_groups(judgements, name, runs[1].id)]
        row = replace(
            _build_row(metric, averages, change, context.units.get(metric.id)),
            segments=tuple(named_segments[:MOST_SEGMENTS]),
            more_segments=max(0, len(named_segments) - MOST_SEGMENTS),
        )
        if not segments and (counted := _count_groups(judgements, name, runs[1].id)):
            row = replace(row, within=counted)
        changes = (judgements.changes[item, runs[1].id] for item in _name_segments(report, metric))
        verdicts = tuple(Verdict.CANNOT_TELL if item.is_by_itself else item.judgement.verdict for item in changes)
        explained_by = _find_explanation(checked, runs, summary, judgements, [name, *_list_alike(change, segments)])
        yield Candidate(
            change,
            row,
            sections[name],
            name in named,
            verdicts,
            tuple(sized_segments),
            explained_by,
            metric.unit.symbol,
        )


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
        metric, change = context.checked.get_metric(name), judgements.changes[name, runs[1].id]
        averages = [get_average(run, metric, context.choices.summary) for run in runs]
        yield Candidate(change, _build_row(metric, averages, change, context.units.get(metric.id)), "", is_key=True)


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


def _build_row(
    metric: Metric, averages: Sequence[float | None], change: JudgedChange, unit: RowUnit | None
) -> JudgedRow:
    judgement = change.judgement
    comparison, interval = judgement.comparison, judgement.interval
    if change.mix and comparison:
        averages = comparison.base, comparison.value
    base, value = format_values(averages, metric.unit.symbol, unit)
    percent = comparison.percent if comparison else None
    if percent and interval:
        text = format_change_within(percent.value, interval.low, interval.high, judgement.margin)
    else:
        text = format_percent(averages[0], averages[1])
    return JudgedRow(
        metric.id,
        metric.name,
        base,
        value,
        text if text == NO_VALUE else f"{text} %",
        format_change_interval(change, metric.unit.symbol),
        get_word(change),
        get_arrow(change),
        " / ".join(map(str, change.sizes)) if change.sizes else "",
        percent.value if percent else None,
        interval.low if interval and percent else None,
        interval.high if interval and percent else None,
        judgement.margin if percent else None,
        get_reason(change),
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
