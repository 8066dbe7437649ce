"""Find the metrics without samples because a run lacks an event that another run has."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from assay.report.data_quality import MISSING_EVENT, Finding, RunQuality


def find_missing_events(
    qualities: Sequence[RunQuality], measured_metrics: Sequence[Collection[str]]
) -> tuple[RunQuality, ...]:
    """Return the qualities of runs, with findings on events that a run lacks and another has.

    `measured_metrics` are the ids of the metrics with samples in each run. One run alone may be without an event
    because nothing happened. If another run has samples, records may be missing: the note becomes a finding.
    """
    return tuple(
        _promote_notes(quality, [ids for other, ids in enumerate(measured_metrics) if other != number])
        for number, quality in enumerate(qualities)
    )


def _promote_notes(quality: RunQuality, others: Sequence[Collection[str]]) -> RunQuality:
    """Return a quality whose notes on missing events are findings if other runs have samples."""
    counts = [_count_measured(note, others) for note in quality.notes]
    if not any(counts):
        return quality
    findings = [
        replace(note, message=f"{note.message.removesuffix('.')}, unlike {_describe_others(count, len(others))}.")
        for note, count in zip(quality.notes, counts, strict=True)
        if count
    ]
    notes = tuple(note for note, count in zip(quality.notes, counts, strict=True) if not count)
    return replace(quality, findings=(*findings, *quality.findings), notes=notes)


def _count_measured(note: Finding, others: Sequence[Collection[str]]) -> int:
    """Return how many other runs have samples of a metric whose event is missing."""
    return sum(bool(set(note.metrics) & set(ids)) for ids in others) if note.code == MISSING_EVENT else 0


def _describe_others(count: int, total: int) -> str:
    if total == 1:
        return "the other run"
    return f"the other {total} runs" if count == total else f"{count} of the other {total} runs"
