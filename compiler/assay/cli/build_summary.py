"""Summarize a finished build in one line: what got worse, how many runs it is of, how long it took."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.app.compare.gate_texts import count_all_verdicts, describe_run_mixes
from assay.app.judge.judged_results import get_group_results, list_judged_groups, parse_judged_results
from assay.lang.segments import get_whole
from assay.report.verdicts.figures import format_size, list_titles
from assay.report.verdicts.paired_sentences import describe_count, explain_lack, find_paired_change, name_largest
from assay.report.verdicts.recorded_change import RecordedChange
from assay.report.verdicts.sentences import describe_quantile_verdicts, describe_unjudged_changes
from assay.util.escape import escape_text
from assay.util.numbers import format_count

RESULTS = "results.json"
MOST_SEGMENTS = 3


def summarize_build(folder: Path, seconds: float) -> str:
    """Return the line for the build in a folder: `2 worse, 0 better, 9 same within 2 %; worst: Wait +48 %; 3.1 s`."""
    results = json.loads((folder / RESULTS).read_text(encoding="utf-8"))
    return "; ".join((*_describe_outcome(results), f"{seconds:.1f} s"))


def _describe_outcome(results: Mapping[str, Any]) -> tuple[str, ...]:

    if results.get("judgement") is not None:
        return _describe_changes(results)
    if judged_groups := list_judged_groups(results):
        return tuple(
            f"{escape_text(group['title'])}: {'; '.join(_describe_changes(get_group_results(results, group)))}"
            for group in judged_groups
        )
    phases = [column for column in results.get("runs", ()) if "phase" in column]
    runs = dict.fromkeys(column.get("run", column["id"]) for column in results.get("runs", ()))
    if len(runs) == 1 and results.get("metrics") and not phases:
        return ("1 run: nothing is compared",)
    counts = (format_count(len(runs), "run"), format_count(len(phases), "phase"))
    return (", ".join(counts if phases else counts[:1]),) if runs else ()


def _describe_paired(changes: Sequence[RecordedChange]) -> Iterator[str]:
    """Yield how many segments changed of the metric of which most did, where each has too few samples."""

    change = find_paired_change(changes)
    if change:
        yield f"{describe_count(change)} ({explain_lack(change)})"
        yield f"most: {name_largest(change)}"


def _describe_changes(results: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the counts of verdicts, and the metric that certainly got worse by most, with its change and segments.

    If no metric is worse as a whole, it is the segment that certainly got worse by most.
    """

    judged = parse_judged_results(results)
    changes, changed_segments = list(judged.whole_changes), list(judged.segments)
    unjudged = describe_unjudged_changes(changes).removesuffix(".")
    unjudged_text = [f"{unjudged[0].lower()}{unjudged[1:]}"] if unjudged else []
    mixes = [text.removesuffix(".") for run in judged.runs if (text := describe_run_mixes(run, judged.base))]
    quantiles = describe_quantile_verdicts(changes).removesuffix(".")
    quantiles_text = [f"{quantiles[0].lower()}{quantiles[1:]}"] if quantiles else []
    texts = (*_describe_paired(changes), *quantiles_text, *unjudged_text, *mixes)
    counts = "; ".join((escape_text(count_all_verdicts(judged)), *texts))
    worse = [change for change in (*changes, *changed_segments) if change.verdict == "worse"]
    # The first page names the same one: metrics of the gate come first, then those whose change is certainly largest.
    worst = min(worse, key=lambda item: (item.is_segment, item.p is None, -item.certain_change), default=None)
    if worst is None:
        return (counts,)
    if worst.is_segment:
        return counts, f"worst: {escape_text(worst.name)} {format_size(worst)}"
    segments = [
        change
        for run in judged.runs
        if any(change is worst for change in run.changes)
        for change in run.segments
        if get_whole(change.metric) == worst.metric
    ]
    names = [
        f"{escape_text(change.name.removeprefix(f'{worst.name}: '))} {format_size(change)} {change.verdict}"
        for change in segments[:MOST_SEGMENTS]
    ]
    more = f" and {len(segments) - len(names)} more" if len(segments) > len(names) else ""
    within = f", within these: {', '.join(names)}{more}" if names else ""
    return counts, f"worst: {list_titles(changes)[worst.metric]} {format_size(worst)}{within}"
