"""Write in sentences what segments show together that have too few samples for a verdict each."""

from __future__ import annotations

from collections.abc import Iterable

from assay.judgement.verdict import Direction, Verdict
from assay.lang.segments import list_dimensions_of_segment, list_values_of_segment
from assay.number_styles.prefixed import format_change_within, format_interval, format_percent_change
from assay.report.judged_cells import NO_MARGIN
from assay.report.verdicts.recorded_change import RecordedChange
from assay.report.verdicts.sentences import MOST_NAMES, select_main_changes
from assay.util.escape import escape_text
from assay.util.numbers import format_count

_WORDS = {Direction.LOWER: ("worse", "better"), Direction.HIGHER: ("better", "worse")}


def find_paired_change(changes: Iterable[RecordedChange]) -> RecordedChange | None:
    """Return the first change of those main metrics of which most segments changed; None if none did."""
    change = max(select_main_changes(changes), key=_count_changed, default=None)
    return change if change and _count_changed(change) else None


def _count_changed(change: RecordedChange) -> int:
    """Return how many segments changed by more than the margin."""
    return len(change.paired["rises"]) + len(change.paired["falls"]) if change.paired else 0


def describe_count(change: RecordedChange) -> str:
    """Return how many segments of a metric changed: `20 of 40 segments of Score changed by more than 2 %`."""
    beyond = f" by more than {change.margin}" if change.margin != NO_MARGIN else ""
    count = f"{_count_changed(change)} of {change.paired['segments']}"
    return f"{count} segments of {escape_text(change.name)} changed{beyond}"


def explain_lack(change: RecordedChange) -> str:
    """Return why the segments have no interval each: `no interval: one sample each`."""
    size = change.paired["samples"]
    return f"{Verdict.NO_INTERVAL}: {'one sample' if size == 1 else format_count(size, 'sample')} each"


def name_largest(change: RecordedChange) -> str:
    """Return the segments that changed most, each with its change."""
    changes = [*change.paired["rises"].items(), *change.paired["falls"].items()]
    changes.sort(key=lambda item: (-abs(item[1]), item[0]))
    names = [
        f"{escape_text(', '.join(list_values_of_segment(name).values()))} {format_percent_change(percent)} %"
        for name, percent in changes[:MOST_NAMES]
    ]
    more = f" and {len(changes) - MOST_NAMES} more" if len(changes) > MOST_NAMES else ""
    return f"{'; '.join(names)}{more}"


def describe_paired(change: RecordedChange) -> str:
    """Return how many segments changed, which ones most, and by how much all of them in the geometric mean."""
    paired = change.paired
    rises, falls = len(paired["rises"]), len(paired["falls"])
    by = " and ".join(list_dimensions_of_segment(next(iter({**paired["rises"], **paired["falls"]}))))
    of_rises, of_falls = _WORDS.get(Direction(change.better), ("greater", "less"))
    mean = ""
    if paired["percent"] is not None:
        interval = format_interval(paired["low"], paired["high"])
        percent = format_change_within(paired["percent"], paired["low"], paired["high"])
        mean = f" Geometric mean: {percent} % ({interval}); one run of each version does not tell it from a slower day."
    return (
        f"{describe_count(change)}: {rises} {of_rises}, {falls} {of_falls} ({explain_lack(change)}). "
        f"By {by}: {name_largest(change)}.{mean}"
    )
