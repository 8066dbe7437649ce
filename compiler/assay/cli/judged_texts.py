"""Write judged changes in words: percents, intervals, counts of verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from assay.app.compare.gate import count_runs_to_decide
from assay.app.judge.judged_results import ComparedRun, JudgedResults
from assay.app.judge.recorded_change import RecordedChange, list_distinct
from assay.lang.segments import get_whole
from assay.number_styles.prefixed import (
    MOST_PERCENT,
    format_change_within,
    format_ends,
    format_percent_interval,
    format_value,
    is_too_wide,
)
from assay.number_styles.row import NO_VALUE
from assay.number_styles.unit_prefix import choose_prefix
from assay.report.first_page.sentences import (
    UnjudgedChange,
    count_by_itself,
    count_changed,
    count_equal,
    describe_quantile_verdicts,
    explain_lack_of_intervals,
    list_quantile_verdicts,
)
from assay.report.judged_cells import format_difference_interval
from assay.report.mixes import describe_mixes
from assay.util.numbers import format_count

LEAST_P = 0.001
NO_INTERVAL, DATA_LOST = "no interval", "data lost"


def format_percents(change: RecordedChange) -> tuple[str, str]:
    """Return the change in percent and its interval, without units: `+31`, `+11 … +51`; empty if there is none.

    From a base of 0 there is no percentage: a dash, and the interval of the difference, `Δ +2.5 … +3.8 %`.
    """

    if change.percent is None and change.difference_low is not None and change.difference_high is not None:
        ends = (change.difference_low, change.difference_high)
        return NO_VALUE, format_difference_interval(ends, change.value or 0.0, change.unit)
    if change.percent is None or change.low is None or change.high is None:
        return "", ""
    limits = (change.low, change.high, change.least_margin)
    return format_change_within(change.percent, *limits), format_percent_interval(*limits)


def format_size(change: RecordedChange) -> str:
    """Return the change of a judged metric in a word or two: `+31 %`, or `from 0`, of which there is no percentage."""
    return "from 0" if change.is_from_zero else f"{format_percents(change)[0]} %"


def format_values(change: RecordedChange, rows: Iterable[RecordedChange] = ()) -> tuple[str, str, str]:
    """Return the averages of base and run with three digits, and the symbol of the unit that they are written in.

    Of the `rows` of the table, segments of one metric are in one unit.
    """

    values = (change.base, change.value)
    whole = get_whole(change.metric)
    alike = (end for item in rows if get_whole(item.metric) == whole for end in (item.base, item.value))
    factor, symbol = choose_prefix([*values, *alike], change.unit)
    base, value = (format_value(None if item is None else float(item * factor)) for item in values)
    return base, value, symbol


def format_change(change: RecordedChange) -> tuple[str, str]:
    """Return the change and its interval as words of a line: `+31 %`, `(+11 … +51)`; empty if there is none.

    A change from 0 is written as `0 → 3.12 %`, `(Δ +2.5 … +3.8 %)`.
    """
    percent, interval = format_percents(change)
    if change.is_from_zero:
        base, value, unit = format_values(change)
        return f"{base} → {value} {unit}".rstrip(), f"({interval})"
    return (f"{percent} %", f"({interval})") if percent else ("", "")


def format_p(p: float, name: str = "Holm p") -> str:
    """Return a p of the gate: one that is adjusted, unless another name is given."""
    return f"{name} < {LEAST_P:g}" if p < LEAST_P else f"{name} {p:.3f}"


def describe_uncorrected(results: JudgedResults) -> str:
    """Return the headline of changes that only the correction for the number of gated metrics keeps from closing."""
    count = sum(change.p is not None for change in results.changes)
    return f"worse before correction for {format_count(count, 'gated metric')}"


def summarize_gate(changes: Sequence[RecordedChange]) -> str:
    """Return how many of gated changes are worse by more than their margin, and how many have no interval.

    If none is worse, but some are undecided, return how many, and how large their changes may be.
    """

    every, changes = len(changes), list_distinct(changes)
    worse, count = sum(change.is_closing for change in changes), len(changes)
    left_out, lost = (sum(change.verdict == verdict for change in changes) for verdict in (NO_INTERVAL, DATA_LOST))
    verb = "is worse by more than its margin" if worse <= 1 else "are worse by more than their margin"
    also = f"; {left_out} {'has' if left_out == 1 else 'have'} no interval" if left_out else ""
    also += f"; {lost} lost data" if lost else ""
    also += count_equal(every - count)
    undecided = list_undecided(changes)
    if undecided:
        size = _describe_possible_change(undecided[0])
        return f"passes, but cannot tell for {len(undecided)} of {format_count(count, 'gated metric')}{size}{also}"
    return f"{worse or 'none'} of {format_count(count, 'gated metric')} {verb}{also}"


def list_undecided(changes: Iterable[RecordedChange]) -> list[RecordedChange]:
    """Return the undecided ones of gated changes, the greatest possible first; none if one closes the gate."""
    listed = list(changes)
    if any(change.is_closing for change in listed):
        return []
    undecided = [change for change in listed if change.is_undecided]
    return sorted(undecided, key=lambda item: (bool(item.reason), -abs(item.worst_end or 0.0), item.metric))


def _describe_possible_change(change: RecordedChange) -> str:
    """Return by how much an undecided metric may have changed; empty without an interval that is printed."""
    low, high, symbol, margin = change.low, change.high, "%", change.least_margin
    if change.is_from_zero and change.difference_low is not None and change.difference_high is not None:
        factor, symbol = choose_prefix([change.value or 0.0], change.unit)
        low, high, margin = float(change.difference_low * factor), float(change.difference_high * factor), None
    if change.reason or low is None or high is None or low == high:
        return ""
    if not change.is_from_zero and is_too_wide(low, high):
        return ""
    end = format_ends(low, high, margin)[0 if change.better == "higher" else 1]
    return f": {change.name} may have changed by up to {end} {symbol}".rstrip()


def describe_quantiles(changes: Iterable[RecordedChange]) -> str:
    """Return a sentence on the quantiles of whole metrics whose verdicts differ from those of the averages."""

    whole = [change for change in changes if not change.is_segment]
    directed = [change for change in whole if change.better != "neither"]
    return describe_quantile_verdicts(
        [
            quantile
            for change in directed or whole
            for quantile in list_quantile_verdicts(
                change.name, change.metric, change.unit, change.verdict, change.tails
            )
        ]
    )


def select_unjudged_changes(changes: Iterable[RecordedChange]) -> list[UnjudgedChange]:
    """Return the changes of whole metrics that are beyond the margin but have no interval.

    Metrics that are better in no direction count only if there are no others, as on the first page of a report.
    """

    whole = [change for change in changes if not change.is_segment]
    directed = [change for change in whole if change.better != "neither"]
    return [
        UnjudgedChange(change.name, change.base, change.value, change.reason or "")
        for change in directed or whole
        if change.is_moved and change.base is not None and change.value is not None
    ]


def describe_run_mixes(run: ComparedRun, base: str) -> str:
    """Return sentences on the metrics whose samples are of other things in a run than in the base; empty without."""

    return describe_mixes([(item.name, item.mix) for item in run.changes if item.mix], (base, run.label))


def select_paired_change(changes: Iterable[RecordedChange]) -> RecordedChange | None:
    """Return the change of the metric of which most segments changed that have too few samples for a verdict each.

    Metrics that are better in no direction count only if there are no others, as on the first page of a report.
    """

    whole = [change for change in changes if not change.is_segment]
    directed = [change for change in whole if change.better != "neither"]
    change = max(directed or whole, key=lambda item: count_changed(item.paired), default=None)
    return change if change and count_changed(change.paired) else None


def describe_required_runs(results: JudgedResults, changes: Iterable[RecordedChange]) -> str:
    """Return a sentence on the runs that an undecided gate needs; empty if the gate decides or the runs are too short.

    One run of each version does not show how much runs differ, so that more may be needed.
    """

    undecided = list_undecided(changes)
    if not undecided:
        return ""
    change = undecided[0]
    runs = None if change.reason else count_runs_to_decide(results, change)
    if change.reason:
        return f"Record longer runs: these cannot tell of {change.name}, since {change.reason}."
    if runs is None:
        return f"Record more runs, or widen the margin of {change.name} ({change.margin})."
    bound = "at least" if min(results.repeats) == 1 else "about"
    return f"Record more repeats: {bound} {runs} runs of each version are needed for the margin of {change.margin}."


def describe_visible_change(changes: Iterable[RecordedChange]) -> str:
    """Return which change the runs would show in each gated metric; empty if none has an interval, or it is too wide.

    It is the half width of the widest interval, and at least the margin.
    """
    halves = [
        max((change.high - change.low) / 2, change.least_margin or 0.0)
        for change in changes
        if change.low is not None and change.high is not None and not change.reason
    ]
    if not halves or max(halves) > MOST_PERCENT:
        return ""
    where = "it" if len(halves) == 1 else f"each of {len(halves)} gated metrics"
    return f"These runs would show a change of {max(halves):.2g} % in {where}."


def describe_worse_outside_gate(run: ComparedRun, most: int) -> str:
    """Return the metrics and segments that are worse, but that the gate does not name; empty without them.

    At most so many have a name: `worse, but not in the gate: Wait: write +16 % (+12 … +20) and 2 more`.
    """
    changes = sort_by_relevance(run.worse_outside_gate)
    names = [" ".join(filter(None, (change.name, *format_change(change)))) for change in changes[:most]]
    more = f" and {len(changes) - len(names)} more" if len(changes) > len(names) else ""
    return f"worse, but not in the gate: {', '.join(names)}{more}" if names else ""


def count_verdicts(
    changes: Iterable[RecordedChange], segments: Iterable[RecordedChange] = (), judged_segments: int = 0
) -> str:
    """Return the number of changes of each verdict: `2 worse, 0 better, 5 same within 2 %, 1 cannot tell`.

    Metrics that are better in no direction count only if they changed, as on the first page of a report, or if there
    are no others: `4 metrics without a direction: 1 same, 3 cannot tell`. Segments that are worse or better count for
    themselves, of so many that are judged: `0 worse, 0 better, 2 cannot tell; 1 worse, 0 better of 24 segments`.
    """

    changes = list(changes)
    segment_numbers = Counter(change.verdict for change in segments)
    if segment_numbers:
        parts = ", ".join(f"{segment_numbers[name]} {name}" for name in ("worse", "better"))
        return f"{count_verdicts(changes)}; {parts} of {format_count(judged_segments, 'segment')}"
    lacks_directions = bool(changes) and all(change.better == "neither" for change in changes)
    listed = [
        change for change in changes if lacks_directions or change.better != "neither" or change.verdict == "changed"
    ]
    every, listed = len(listed), list_distinct(listed)
    numbers = Counter(change.verdict for change in listed)
    by_itself = Counter(change.verdict for change in listed if change.is_by_itself)
    margins = {change.margin for change in listed if change.verdict == "same"}
    margin_text = f" within {margins.pop()}" if len(margins) == 1 else " within their margins" if margins else ""
    counts = [
        (name, numbers[name]) for name in ("worse", "better", "changed", "same", "cannot tell", DATA_LOST, NO_INTERVAL)
    ]
    text = ", ".join(
        f"{number} {name}{margin_text if name == 'same' else ''}{count_by_itself(by_itself[name])}"
        for name, number in counts
        if number or not (lacks_directions or name in ("changed", DATA_LOST))
    )
    if listed and numbers[NO_INTERVAL] == len(listed):
        text += explain_lack_of_intervals(change.reason for change in listed if change.reason)
    text += count_equal(every - len(listed))
    return f"{format_count(len(listed), 'metric')} without a direction: {text}" if lacks_directions else text


def count_all_verdicts(results: JudgedResults) -> str:
    """Return the numbers of verdicts of all compared versions, after how many comparisons they are of."""
    counts = count_verdicts(results.whole_changes, results.segments, results.judged_segments)
    return f"{len(results.runs)} comparisons with {results.base}: {counts}" if len(results.runs) > 1 else counts


def sort_by_relevance(changes: Iterable[RecordedChange]) -> Sequence[RecordedChange]:
    """Return changes by relevance: those that close the gate first, then by how far their interval is from 0."""
    return sorted(changes, key=lambda item: (not item.is_closing, -item.certain_change, item.metric))


def list_titles(changes: Iterable[RecordedChange]) -> dict[str, str]:
    """Return a title for each metric: its name, with its section or id if another metric has the same name."""
    listed = list(changes)
    numbers = Counter(change.name for change in listed)
    local_names = list_local_names(listed)
    titles = {}
    for change in listed:
        local_name = local_names[change.metric]
        is_shared = numbers[change.name] > 1 and local_name == change.name
        titles[change.metric] = f"{change.name} ({change.section})" if is_shared else local_name
    return titles


def list_local_names(changes: Iterable[RecordedChange]) -> dict[str, str]:
    """Return a name for each metric that is unique in its section: its name, with its id if another one has it."""
    listed = list(changes)
    numbers = Counter((change.section, change.name) for change in listed)
    return {
        change.metric: change.name if numbers[change.section, change.name] == 1 else f"{change.name} ({change.metric})"
        for change in listed
    }
