"""Summarize a finished build in one line: what got worse, how many runs it is of, how long it took."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.cli.judged_texts import count_verdicts, format_percents, list_titles, sort_by_relevance
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
    runs, phases = results.get("runs", ()), results.get("columns", ())
    if len(runs) == 1 and "metrics" in results and not phases:
        return ("1 run: nothing is compared",)
    counts = (format_count(len(runs), "run"), format_count(len(phases), "phase"))
    return (", ".join(counts if phases else counts[:1]),) if runs else ()


def _describe_changes(results: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the counts of verdicts, and the metric that got worse by most, with its change and its segments."""
    from assay.app.judged_results import list_changed_segments, parse_judged_results

    judged = parse_judged_results(results)
    changes = list(judged.whole_changes)
    counts = count_verdicts(changes)
    worst = next((change for change in sort_by_relevance(changes) if change.verdict == "worse"), None)
    if worst is None:
        return (counts,)
    run = next(run.id for run in judged.runs if any(change is worst for change in run.changes))
    segments = list_changed_segments(results, worst.metric, run)
    names = [
        f"{escape_text(label)} {format_percents(change)[0]} % {change.verdict}"
        for label, change in segments[:MOST_SEGMENTS]
    ]
    more = f" and {len(segments) - len(names)} more" if len(segments) > len(names) else ""
    within = f", within these: {', '.join(names)}{more}" if names else ""
    return counts, f"worst: {list_titles(changes)[worst.metric]} {format_percents(worst)[0]} %{within}"
