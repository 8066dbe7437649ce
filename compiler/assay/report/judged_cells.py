"""Write judgements as cells of tables and as notes below them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.judgement.batches import LEAST_PLACED
from assay.judgement.report_judgements import JudgedChange, ReportJudgements
from assay.judgement.verdict import Verdict
from assay.lang.model.package import Metric
from assay.styles.prefixed import format_interval

RISE, FALL = "▲", "▼"
NOT_JUDGED = "–"


def name_judged_columns(level: float) -> tuple[str, str]:
    """Return the headings of interval and verdict."""
    return f"{100 * level:g} %", "Verdict"


def format_judged_cells(change: JudgedChange) -> tuple[str, str]:
    """Return the interval of a change in percent, and the verdict: `▲ worse`, `same`; dashes if it is not judged."""
    interval = change.judgement.interval
    if interval is None:
        return NOT_JUDGED, NOT_JUDGED
    return format_interval(interval.low, interval.high), " ".join(filter(None, (get_arrow(change), get_word(change))))


def get_word(change: JudgedChange) -> str:
    """Return the verdict as a word."""
    return change.judgement.verdict.value


def get_arrow(change: JudgedChange) -> str:
    """Return in which direction a metric changed by more than its margin; empty if not, or if not known."""
    judgement = change.judgement
    if judgement.verdict not in (Verdict.BETTER, Verdict.WORSE, Verdict.CHANGED) or judgement.comparison is None:
        return ""
    return RISE if judgement.comparison.percent.value > 0 else FALL


def list_judgement_notes(judgements: ReportJudgements, metrics: Sequence[Metric], run: str) -> Iterator[str]:
    """Yield which metrics of a table are not judged, and why, and how few units of time their intervals rest on."""
    changes = {metric.name: judgements.changes[metric.id, run].judgement for metric in metrics}
    names_by_reason: dict[str, list[str]] = {}
    for name, judgement in changes.items():
        if judgement.reason:
            prefix = "not judged" if judgement.comparison is None else "open"
            names_by_reason.setdefault(f"{prefix}, because {judgement.reason.value}", []).append(name)
    for reason, names in names_by_reason.items():
        yield f"{', '.join(names)}: {reason}."
    comparisons = [item.comparison for item in changes.values() if item.comparison]
    short = [item for item in comparisons if 0 < item.units < LEAST_PLACED and item.spread.batches]
    if short:
        units, batches = min(item.units for item in short), sorted({item.spread.batches for item in short})
        counts = str(batches[0]) if len(batches) == 1 else f"{batches[0]} to {batches[-1]}"
        yield f"{units} units of time are few: {counts} batches."
