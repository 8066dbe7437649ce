"""Say where a change comes from, in one sentence: hosts, values of dimensions, their shares, times of the run."""

from __future__ import annotations

from collections.abc import Iterator

from assay.judgement.focus import Division, FocusTable, MixFocus, ValueFocus
from assay.judgement.report_judgements import JudgedChange, ReportJudgements
from assay.judgement.split_change import PartValue
from assay.judgement.time_focus import TimeFocus
from assay.judgement.verdict import Direction, Judgement, Verdict
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.lang.scopes import HOST
from assay.lang.segments import format_value as format_text
from assay.lang.time_format import format_instant
from assay.number_styles.prefixed import format_delta, format_percent_change, format_value
from assay.number_styles.unit_prefix import choose_prefix
from assay.quality.finding import list_names
from assay.report.judged_cells import BY_ITSELF, get_word
from assay.util.escape import escape_text, shorten
from assay.util.time_units import SECOND

_MOST_NAMES = 3
_MOST_COUNTS = 8
_LETTERS_OF_DAY = 10


def compose_focus(checked: CheckedPackage, metric: Metric, change: JudgedChange, table: FocusTable) -> str:
    """Return where the change of a metric comes from; empty if nothing stands out.

    `Latency +4.1 ms (20.1 → 24.2 ms, worse): 84 % of it is on web-17 (+249 %, worse; without it +3 %, cannot tell).`
    """
    parts = [*(_describe_value(item) for item in table.values)]
    if table.mix:
        parts.append(_describe_mix(table.mix, change.judgement.direction, rises=table.difference > 0))
    if table.time:
        parts.append(_describe_time(checked, metric, table.time))
    return f"{_describe_change(metric, change, table)}: {'; '.join(parts)}." if parts else ""


def list_foci(checked: CheckedPackage, judgements: ReportJudgements, version: str) -> dict[str, str]:
    """Return the sentences on where the changes of a version come from, by metric."""
    sentences = {
        metric: compose_focus(checked, checked.get_metric(metric), judgements.changes[metric, other], table)
        for (metric, other), table in judgements.foci.items()
        if other == version
    }
    return {metric: text for metric, text in sentences.items() if text}


def describe_foci(checked: CheckedPackage, metric: Metric, change: JudgedChange, table: FocusTable | None) -> str:
    """Return where the change of a metric comes from, or why nothing is named."""
    if table is None:
        name = escape_text(metric.name)
        return f"{name}: its samples have no time or are too few, so hosts, values and times cannot be compared."
    if table.has_focus:
        return compose_focus(checked, metric, change, table)
    whole = _describe_change(metric, change, table)
    if not table.divisions:
        return f"{whole}, so no host, value or time is named."
    counts = [_count_values(item) for item in table.divisions if item.is_divided]
    listed = f"{list_names(counts, _MOST_COUNTS)} and " if counts else ""
    return f"{whole}: nothing stands out among {listed}the parts of the run."


def _count_values(division: Division) -> str:
    count = len(division.parts)
    return f"{count} hosts" if division.column == HOST else f"{count} values of {escape_text(division.column)}"


def name_value(column: str, value: PartValue) -> str:
    """Return a value with the name of its column: `kind write`."""
    return f"{escape_text(column)} {escape_text(shorten(format_text(value)))}"


def _describe_change(metric: Metric, change: JudgedChange, table: FocusTable) -> str:
    """Return a change as page 1 prints it; if versions have other samples there, that of all samples."""
    factor, symbol = choose_prefix(list(map(float, table.averages)), metric.unit.symbol)
    base, value = (float(item * factor) for item in table.averages)
    word = f", {get_word(change)}{BY_ITSELF if change.is_by_itself else ''}"
    ending = f" {symbol}" if symbol else ""
    whole = " over all samples" if change.mix else ""
    text = f"{format_value(base)} → {format_value(value)}{ending}{'' if change.mix else word}"
    return f"{escape_text(metric.name)}{whole} {format_delta(base, value)}{ending} ({text})"


def _describe_value(focus: ValueFocus) -> str:
    name = name_value(focus.column, focus.value)
    return (
        f"{float(100 * focus.share):.0f} % of it is {'on' if focus.is_cluster else 'in'} {name}"
        f" ({_describe_judgement(focus.judgement)}; without it {_describe_judgement(focus.rest)})"
    )


def _describe_judgement(judgement: Judgement) -> str:
    comparison = judgement.comparison
    if comparison is None:
        return judgement.verdict.value
    if comparison.percent is None:
        return f"{comparison.difference.value:+.3g}, {judgement.verdict.value}"
    return f"{format_percent_change(comparison.percent.value)} %, {judgement.verdict.value}"


def _describe_mix(focus: MixFocus, direction: Direction, *, rises: bool) -> str:
    word = Verdict.CHANGED.value
    if direction is not Direction.NEITHER:
        word = (Verdict.WORSE if rises is (direction is Direction.LOWER) else Verdict.BETTER).value
    before, after = (f"{float(100 * weight):.3g}" for weight in focus.weights)
    moved = "rose" if focus.weights[1] > focus.weights[0] else "fell"
    names = [name_value(focus.column, value) for value in focus.worse]
    rest = f"{list_names(names, _MOST_NAMES)} {word}, too" if names else f"no {escape_text(focus.column)} is {word}"
    return (
        f"{float(100 * focus.share):.0f} % of it is mix: the share of {name_value(focus.column, focus.value)}"
        f" {moved} from {before} to {after} %; {rest}"
    )


def _describe_time(checked: CheckedPackage, metric: Metric, focus: TimeFocus) -> str:
    begin, end = (_describe_edge(checked, metric, focus, index) for index in (0, 1))
    if begin and end:
        span, rest = f"from {begin} to {end}", "else"
    else:
        span, rest = (f"from {begin} on", "before") if begin else (f"until {end}", "after")
    inside, outside = (" → ".join(_format_values(metric, values)) for values in (focus.averages, focus.outside))
    return f"{100 * focus.share:.0f} % of it is {span} ({inside}; {rest} {outside})"


def _format_values(metric: Metric, values: tuple[float, float]) -> Iterator[str]:
    factor, symbol = choose_prefix(values, metric.unit.symbol)
    yield format_value(values[0] * float(factor))
    yield f"{format_value(values[1] * float(factor))}{f' {symbol}' if symbol else ''}"


def _describe_edge(checked: CheckedPackage, metric: Metric, focus: TimeFocus, index: int) -> str:
    """Return where an interval begins (0) or ends (1), as a time or a share of the run; empty at an end of the run."""
    batch = (focus.first, focus.last + 1)[index]
    if not 0 < batch < focus.batches:
        return ""
    edge = focus.edges[index]
    grain = next(item for item in checked.package.grains if item.name == metric.grain)
    if edge is None:
        return f"{100 * batch / focus.batches:.0f} % of the run"
    is_instant = any(item.name == grain.time for item in grain.instants) or any(
        column.name == grain.time and column.type == "instant" for column in grain.all_columns
    )
    if not is_instant:
        return f"{escape_text(grain.time)} {edge}"
    moment, first, last = (format_instant(item // SECOND * SECOND) for item in (edge, *focus.extent))
    return moment.partition("T")[2] if first[:_LETTERS_OF_DAY] == last[:_LETTERS_OF_DAY] else moment
