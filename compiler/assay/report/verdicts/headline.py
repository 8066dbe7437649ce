"""Write the headline of a comparison, and how many metrics and segments have each verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from assay.judgement.verdict import Verdict
from assay.number_styles.prefixed import MOST_PERCENT
from assay.report.verdicts.paired_sentences import describe_count, find_paired_change
from assay.report.verdicts.recorded_change import RecordedChange, list_distinct
from assay.report.verdicts.sentences import (
    count_by_verdict,
    count_verdicts,
    measure_visible_changes,
    name_worse_quantiles,
    select_main_changes,
)
from assay.util.numbers import format_count

_JUDGED = (Verdict.WORSE, Verdict.BETTER, Verdict.CHANGED, Verdict.SAME, Verdict.CANNOT_TELL)
_WHOLE = 100  # percent, from which on there are no decimals


@dataclass(frozen=True, slots=True)
class SegmentVerdicts:
    """How many segments of the metrics that are better in a direction have each verdict, of those that are judged.

    `largest` is the segment that changed most, with its metric and change: `write of Wait (+31 %)`.
    """

    counts: Mapping[Verdict, int] = field(default_factory=dict)
    largest: str = ""

    @property
    def worse(self) -> int:
        """How many are worse."""
        return self.counts.get(Verdict.WORSE, 0)

    @property
    def better(self) -> int:
        """How many are better."""
        return self.counts.get(Verdict.BETTER, 0)

    @property
    def has_changed(self) -> bool:
        """Whether any is worse or better."""
        return bool(self.worse or self.better)


NO_SEGMENTS = SegmentVerdicts()


def compose_headline(
    labels: tuple[str, str],
    changes: Iterable[RecordedChange],
    segments: SegmentVerdicts = NO_SEGMENTS,
    *,
    are_single_runs: bool = False,
) -> str:
    """Return the outcome in one sentence: that of the metrics that are better in a direction, else of the conditions.

    `labels` are those of base and run. Those metrics count whose verdict is more than chance makes of so many. What
    changed in some segments only may be lost in the whole metric, so that segments count if no metric changed. How much
    runs of one version differ is not known of single runs: then the sentence is on these runs, not on their versions.
    """
    every, (base, run) = list(changes), labels
    changes = list_distinct(select_main_changes(every))
    counts = count_by_verdict(change for change in changes if not change.is_by_itself)
    judged = sum(change.verdict in _JUDGED for change in changes)
    worse, better = counts[Verdict.WORSE], counts[Verdict.BETTER]
    of_all = f"of {format_count(judged, 'metric')}"
    if are_single_runs:
        run, base = f"This run of {run}", f"this run of {base}"
    if (quantiles := name_worse_quantiles(every)) and not worse:
        also = f", though better in {better} {of_all}" if better else ""
        return f"{run} is worse than {base} in {quantiles}{also}"
    if judged == 1 and worse + better:
        return f"{run} is {'worse' if worse else 'better'} than {base} in the only metric with an interval"
    if not worse + better and segments.has_changed:
        return f"{run} is {_describe_segments(base, segments)}, but in no metric as a whole"
    if (paired := find_paired_change(every)) and not worse + better + counts[Verdict.CHANGED]:
        return f"{describe_count(paired)} from {labels[0]} to {labels[1]}"
    if not judged:
        return f"No metric of {labels[1]} has an interval against {labels[0]}"
    if changed := counts[Verdict.CHANGED]:
        return f"{run} differs from {base} in {changed} {of_all}, which {'has' if judged == 1 else 'have'} no direction"
    if worse and worse >= better:
        also = f", and better in {better}" if better else ""
        return f"{run} is worse than {base} in {worse} {of_all}{also}"
    if better:
        return f"{run} is better than {base} in {better} {of_all}, and worse in {worse or 'none'}"
    if counts[Verdict.SAME] == judged:
        return f"{run} is the same as {base} in {'all ' if judged > 1 else ''}{format_count(judged, 'metric')}"
    return f"These runs cannot tell whether {labels[1]} differs from {labels[0]}{_describe_visible_change(changes)}"


def _describe_visible_change(changes: Sequence[RecordedChange]) -> str:
    """Return which change the runs would have shown in each judged metric; empty if none has an interval in percent.

    Metrics count apart whose base is 0, whose interval is not certain, or is wider than percentages are printed.
    """
    halves, judged = measure_visible_changes(changes), sum(change.has_interval for change in changes)
    if not halves:
        return ""
    visible = [half for half in halves if half <= MOST_PERCENT]
    where = f" in {len(visible)} of {judged} metrics" if 0 < len(visible) < judged else ""
    if not visible:
        return f"; only changes beyond {MOST_PERCENT} % would have been seen"
    least = f"{max(visible):.0f}" if max(visible) >= _WHOLE else f"{max(visible):.2g}"
    return f"; changes of {least} % would have been seen{where}"


def _describe_segments(base: str, segments: SegmentVerdicts) -> str:
    worse, better = segments.worse, segments.better
    of_all = f"of {format_count(sum(segments.counts.values()), 'segment')}"
    named = f", {'most in ' if (worse or better) > 1 else ''}{segments.largest}" if segments.largest else ""
    if not worse:
        return f"better than {base} in {better} {of_all}{named}"
    return f"worse than {base} in {worse} {of_all}{named}{f', and better in {better}' if better else ''}"


def compose_counts(changes: Iterable[RecordedChange], segments: SegmentVerdicts = NO_SEGMENTS) -> str:
    """Return how many main metrics have each verdict, and how many of their segments are worse or better."""
    main_changes = select_main_changes(changes)
    if not main_changes:
        return "No metric of the report is better in a direction."
    counts = f"{count_verdicts(main_changes)}."
    if not segments.has_changed:
        return counts
    return f"{counts} Segments: {segments.worse} worse, {segments.better} better of {sum(segments.counts.values())}."
