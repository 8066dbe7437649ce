"""Write in sentences what segments show together that have too few samples for a verdict each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.judgement.verdict import Direction, Verdict
from assay.lang.segments import list_dimensions_of_segment, list_values_of_segment
from assay.styles.prefixed import format_change_within, format_interval, format_percent_change
from assay.util.escape import escape_text
from assay.util.numbers import format_count

MOST_NAMES = 3
_DECIDED = (Verdict.WORSE, Verdict.BETTER)


def count_changed(paired: Mapping[str, Any]) -> int:
    """Return how many segments changed by more than the margin; `paired` is the member of `results.json`, or empty."""
    return len(paired["rises"]) + len(paired["falls"]) if paired else 0


def describe_count(label: str, paired: Mapping[str, Any], margin: str) -> str:
    """Return how many segments of a metric changed, of how many: `20 of 40 segments of Score changed by more than 2 %`.

    `margin` is the margin in words.
    """
    count = f"{count_changed(paired)} of {paired['segments']}"
    return f"{count} segments of {escape_text(label)} changed{_write_margin(margin)}"


def explain_lack(paired: Mapping[str, Any]) -> str:
    """Return why the segments are not judged each: `not judged: one sample each`."""
    count = "one sample" if paired["samples"] == 1 else format_count(paired["samples"], "sample")
    return f"not judged: {count} each"


def name_largest(paired: Mapping[str, Any]) -> str:
    """Return the segments that changed most, each with its change."""
    changes = [*paired["rises"].items(), *paired["falls"].items()]
    changes.sort(key=lambda item: (-abs(item[1]), item[0]))
    names = [
        f"{escape_text(', '.join(list_values_of_segment(name).values()))} {format_percent_change(percent)} %"
        for name, percent in changes[:MOST_NAMES]
    ]
    more = f" and {len(changes) - MOST_NAMES} more" if len(changes) > MOST_NAMES else ""
    return f"{'; '.join(names)}{more}"


def describe_paired(label: str, paired: Mapping[str, Any], margin: str, direction: Direction) -> str:
    """Return how many segments changed, which ones most, and by how much all of them in the geometric mean."""
    rises, falls = len(paired["rises"]), len(paired["falls"])
    by = " and ".join(list_dimensions_of_segment(next(iter({**paired["rises"], **paired["falls"]}))))
    words = {Direction.LOWER: ("worse", "better"), Direction.HIGHER: ("better", "worse")}
    of_rises, of_falls = words.get(direction, ("greater", "less"))
    mean = ""
    if paired["percent"] is not None:
        interval = format_interval(paired["low"], paired["high"])
        change = format_change_within(paired["percent"], paired["low"], paired["high"])
        mean = f" Geometric mean: {change} % ({interval}), {paired['verdict']}."
    return (
        f"{describe_count(label, paired, margin)}: {rises} {of_rises}, {falls} {of_falls} ({explain_lack(paired)}). "
        f"By {by}: {name_largest(paired)}.{mean}"
    )


def compose_paired_headline(labels: tuple[str, str], label: str, paired: Mapping[str, Any], margin: str) -> str:
    """Return the outcome of a comparison in which only segments changed, that are not judged each."""
    base, run = labels
    if (verdict := paired["verdict"]) in _DECIDED:
        return (
            f"{run} is {verdict} than {base} in the geometric mean of {paired['segments']} segments of "
            f"{escape_text(label)}, {count_changed(paired)} of which changed{_write_margin(margin)}"
        )
    return f"{describe_count(label, paired, margin)} from {base} to {run}"


def _write_margin(margin: str) -> str:
    return f" by more than {margin}" if margin != "0" else ""
