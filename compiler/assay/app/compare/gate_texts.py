"""Write in sentences what a gate decides, what it cannot tell, and what it does not judge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assay.app.compare.gate import count_runs_to_decide
from assay.app.judge.judged_results import ComparedRun, JudgedResults
from assay.judgement.verdict import Direction, Verdict
from assay.number_styles.prefixed import MOST_PERCENT, format_ends, is_too_wide
from assay.number_styles.unit_prefix import choose_prefix
from assay.report.mixes import describe_mixes
from assay.report.verdicts.figures import format_change, sort_by_relevance
from assay.report.verdicts.recorded_change import RecordedChange, list_distinct
from assay.report.verdicts.sentences import count_by_verdict, count_equal, count_verdicts, measure_visible_changes
from assay.util.numbers import format_count


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
    numbers = count_by_verdict(changes)
    left_out, lost = numbers[Verdict.NO_INTERVAL], numbers[Verdict.DATA_LOST]
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
    end = format_ends(low, high, margin)[0 if change.better == Direction.HIGHER else 1]
    return f": {change.name} may have changed by up to {end} {symbol}".rstrip()


def describe_run_mixes(run: ComparedRun, base: str) -> str:
    """Return sentences on the metrics whose samples are of other things in a run than in the base; empty without."""

    return describe_mixes([(item.name, item.mix) for item in run.changes if item.mix], (base, run.label))


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
    halves = measure_visible_changes(changes)
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


def count_all_verdicts(results: JudgedResults) -> str:
    """Return the numbers of verdicts of all compared versions, after how many comparisons they are of.

    Segments that are worse or better count for themselves, of so many that are judged: `; 1 worse, 0 better of 24`.
    """
    counts = count_verdicts(results.whole_changes)
    numbers = count_by_verdict(results.segments)
    if numbers:
        parts = ", ".join(f"{numbers[verdict]} {verdict}" for verdict in (Verdict.WORSE, Verdict.BETTER))
        counts += f"; {parts} of {format_count(results.judged_segments, 'segment')}"
    return f"{len(results.runs)} comparisons with {results.base}: {counts}" if len(results.runs) > 1 else counts
