"""Write verdicts in sentences: the headline of the first page, its counts, quantiles, and segments together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from assay.judgement.interval import UNTRUSTED
from assay.judgement.report_judgements import JudgedChange, list_distinct
from assay.judgement.verdict import Direction, Verdict
from assay.lang.segments import list_dimensions_of_segment, list_values_of_segment
from assay.number_styles.prefixed import (
    MOST_PERCENT,
    format_change_within,
    format_interval,
    format_percent,
    format_percent_change,
    format_value,
)
from assay.number_styles.row import NO_VALUE
from assay.number_styles.unit_prefix import choose_prefix
from assay.quality.finding import list_names
from assay.report.judged_cells import BY_ITSELF
from assay.util.escape import escape_text
from assay.util.numbers import format_count

_JUDGED = (Verdict.WORSE, Verdict.BETTER, Verdict.CHANGED, Verdict.SAME, Verdict.CANNOT_TELL)
_WITHOUT_DIRECTION = (
    Verdict.CHANGED, Verdict.SAME, Verdict.CANNOT_TELL, Verdict.DATA_LOST, Verdict.NO_INTERVAL
)  # fmt: skip
MOST_NAMES = 3
_MIDDLE = 0.5
_WHOLE = 100  # percent, from which on there are no decimals


def compose_headline(
    base: str,
    run: str,
    changes: Sequence[JudgedChange],
    segment_counts: Mapping[Verdict, int] = MappingProxyType({}),
    conditions: Sequence[JudgedChange] = (),
    paired: str = "",
    largest_segment: str = "",
    quantiles: str = "",
    *,
    are_single_runs: bool = False,
) -> str:
    """Return the outcome in one sentence; the changes are those of metrics that are better in a direction.

    Those count whose verdict is more than chance makes of so many. Of single runs, how much runs of one version differ
    is not known: then the sentence is on these runs, not on their versions.

    Without such metrics it is that of the `conditions`, the metrics that are better in none. `segment_counts` are the
    numbers of their segments that are judged, by verdict: what changed in some segments only may be lost in the whole
    metric. `paired` is the outcome of segments that have no interval each: it counts if no metric changed.
    `largest_segment` is the segment
    that changed most, with its metric and change, `quantiles` names quantiles that are worse.
    """
    changes = list_distinct(changes or conditions)
    counts = count_by_verdict(change for change in changes if not change.is_by_itself)
    judged = sum(change.judgement.verdict in _JUDGED for change in changes)
    worse, better = counts[Verdict.WORSE], counts[Verdict.BETTER]
    of_all = f"of {format_count(judged, 'metric')}"
    labels = run, base
    if are_single_runs:
        run, base = f"This run of {run}", f"this run of {base}"
    if quantiles and not worse:
        also = f", though better in {better} {of_all}" if better else ""
        return f"{run} is worse than {base} in {quantiles}{also}"
    if judged == 1 and worse + better:
        return f"{run} is {'worse' if worse else 'better'} than {base} in the only metric with an interval"
    if not worse + better and _has_changed(segment_counts):
        return f"{run} is {_describe_segments(base, segment_counts, largest_segment)}, but in no metric as a whole"
    if paired and not worse + better + counts[Verdict.CHANGED]:
        return paired
    if not judged:
        return f"No metric of {labels[0]} has an interval against {labels[1]}"
    if changed := counts[Verdict.CHANGED]:
        return f"{run} differs from {base} in {changed} {of_all}, which {'has' if judged == 1 else 'have'} no direction"
    if worse and worse >= better:
        also = f", and better in {better}" if better else ""
        return f"{run} is worse than {base} in {worse} {of_all}{also}"
    if better:
        return f"{run} is better than {base} in {better} {of_all}, and worse in {worse or 'none'}"
    if counts[Verdict.SAME] == judged:
        return f"{run} is the same as {base} in {'all ' if judged > 1 else ''}{format_count(judged, 'metric')}"
    return f"These runs cannot tell whether {labels[0]} differs from {labels[1]}{_describe_visible_change(changes)}"


def _describe_visible_change(changes: Sequence[JudgedChange]) -> str:
    """Return which change the runs would have shown in each judged metric; empty if none has an interval in percent.

    It is the half width of the widest interval, and at least the margin. Metrics count apart whose base is 0, whose
    interval is not certain, or is wider than percentages are printed.
    """
    judged = [item for item in changes if item.judgement.comparison and item.judgement.interval]
    halves = [
        max((interval.high - interval.low) / 2, item.margin.percent)
        for item in judged
        if (interval := item.judgement.interval)
        and (comparison := item.judgement.comparison)
        and comparison.percent
        and item.judgement.reason not in UNTRUSTED
    ]
    if not halves:
        return ""
    visible = [half for half in halves if half <= MOST_PERCENT]
    where = f" in {len(visible)} of {len(judged)} metrics" if 0 < len(visible) < len(judged) else ""
    if not visible:
        return f"; only changes beyond {MOST_PERCENT} % would have been seen"
    least = f"{max(visible):.0f}" if max(visible) >= _WHOLE else f"{max(visible):.2g}"
    return f"; changes of {least} % would have been seen{where}"


def _has_changed(segment_counts: Mapping[Verdict, int]) -> bool:
    return any(segment_counts.get(verdict) for verdict in (Verdict.WORSE, Verdict.BETTER))


def _describe_segments(base: str, segment_counts: Mapping[Verdict, int], largest: str) -> str:
    worse, better = segment_counts.get(Verdict.WORSE, 0), segment_counts.get(Verdict.BETTER, 0)
    of_all = f"of {format_count(sum(segment_counts.values()), 'segment')}"
    named = f", {'most in ' if (worse or better) > 1 else ''}{largest}" if largest else ""
    if not worse:
        return f"better than {base} in {better} {of_all}{named}"
    return f"worse than {base} in {worse} {of_all}{named}{f', and better in {better}' if better else ''}"


def compose_counts(
    changes: Sequence[JudgedChange],
    segment_counts: Mapping[Verdict, int] = MappingProxyType({}),
    conditions: Sequence[JudgedChange] = (),
) -> str:
    """Return how many metrics have each verdict; if none has an interval, also why.

    The metrics are those that are better in a direction; without any, the `conditions`, which are better in none. How
    many of their segments are worse or better, of those that are judged, comes last.
    """
    if not changes:
        return _count_conditions(conditions)
    if _has_changed(segment_counts):
        worse, better = segment_counts.get(Verdict.WORSE, 0), segment_counts.get(Verdict.BETTER, 0)
        return f"{compose_counts(changes)} Segments: {worse} worse, {better} better of {sum(segment_counts.values())}."
    every, changes = len(changes), list_distinct(changes)
    counts = count_by_verdict(changes)
    unjudged = [verdict for verdict in (Verdict.DATA_LOST, Verdict.NO_INTERVAL) if counts[verdict]]
    if sum(counts[verdict] for verdict in unjudged) == len(changes):
        reasons = [_explain_lack(item for item in changes if item.judgement.verdict is verdict) for verdict in unjudged]
        parts = [f"{counts[verdict]} {verdict}{text}" for verdict, text in zip(unjudged, reasons, strict=True)]
        return f"{'; '.join(parts)}."
    margin = _find_shared_margin(changes)
    parts = [
        *(
            f"{counts[verdict]} {verdict}{count_by_itself(sum(_is_by_itself(item, verdict) for item in changes))}"
            for verdict in (Verdict.WORSE, Verdict.BETTER)
        ),
        f"{counts[Verdict.SAME]} same{f' within {margin}' if margin else ''}",
        f"{counts[Verdict.CANNOT_TELL]} {Verdict.CANNOT_TELL}",
        *(f"{counts[verdict]} {verdict}" for verdict in unjudged),
    ]
    return f"{', '.join(parts)}{count_equal(every - len(changes))}."


def _is_by_itself(change: JudgedChange, verdict: Verdict) -> bool:
    return change.is_by_itself and change.judgement.verdict is verdict


def count_by_itself(count: int) -> str:
    """Return how many of the metrics before have a verdict by themselves: ` (1 by itself)`; empty for none."""
    return f" ({count} by {'itself' if count == 1 else 'themselves'})" if count else ""


def count_equal(count: int) -> str:
    """Return how many further metrics have the values of another, and count with it; empty for none."""
    return f"; {count} more {'has' if count == 1 else 'have'} the values of another" if count else ""


def explain_by_itself(names: Sequence[str]) -> str:
    """Return a sentence on metrics whose verdicts are no more than chance makes of so many; empty without any."""
    return f"By itself, so perhaps by chance among so many metrics: {list_names(names, MOST_NAMES)}." if names else ""


def _count_conditions(conditions: Sequence[JudgedChange]) -> str:
    """Return how many metrics without a direction there are, and how many of each verdict."""
    if not conditions:
        return "No metric of the report is better in a direction."
    every, conditions = len(conditions), list_distinct(conditions)
    counts = count_by_verdict(conditions)
    parts = ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in _WITHOUT_DIRECTION if counts[verdict])
    reasons = _explain_lack(conditions) if counts[Verdict.NO_INTERVAL] == len(conditions) else ""
    equal = count_equal(every - len(conditions))
    return f"{format_count(len(conditions), 'metric')} without a direction: {parts}{reasons}{equal}."


def _explain_lack(changes: Iterable[JudgedChange]) -> str:
    return explain_lack_of_intervals(item.judgement.reason.value for item in changes if item.judgement.reason)


def explain_lack_of_intervals(reasons: Iterable[str]) -> str:
    """Return why metrics have no interval, to follow their number: `, because its rows have no time`."""
    counts = Counter(reasons).most_common()
    if len(counts) == 1:
        return f", because {counts[0][0]}"
    return f": {', '.join(f'{count} because {text}' for text, count in counts)}" if counts else ""


def count_by_verdict(changes: Iterable[JudgedChange]) -> Counter[Verdict]:
    """Return how many changes have each verdict."""
    return Counter(item.judgement.verdict for item in changes)


def _find_shared_margin(changes: Sequence[JudgedChange]) -> str | None:
    """Return the margin of all metrics in words, empty if all have a margin of 0; None if they differ."""
    margins = {item.margin for item in changes}
    if len(margins) != 1 or (margin := margins.pop()).amount:
        return None
    return f"{margin.percent:g} %" if margin.percent else ""


@dataclass(frozen=True, slots=True)
class QuantileVerdict:
    """A quantile of a metric that changed beyond the margin, while the average has another verdict."""

    label: str
    metric: str
    unit: str
    share: float
    ends: tuple[float, float]
    verdict: str
    is_by_itself: bool = False

    @property
    def text(self) -> str:
        """The quantile with its change: `p99 of Wait 39.8 → 88.5 ms (+122 %) worse`."""
        factor, symbol = choose_prefix(self.ends, self.unit)
        base, value = (format_value(float(end * factor)) for end in self.ends)
        percent = format_percent(*self.ends)
        change = "" if percent == NO_VALUE else f" ({percent} %)"
        return (
            f"{self.name} of {escape_text(self.label)} {base} → {f'{value} {symbol}'.rstrip()}{change} {self.verdict}"
            f"{BY_ITSELF if self.is_by_itself else ''}"
        )

    @property
    def name(self) -> str:
        """The name of the quantile: `median`, `p99`."""
        return "median" if self.share == _MIDDLE else f"p{100 * self.share:g}"


def list_quantile_verdicts(
    label: str, metric: str, unit: str, verdict: str, tails: Sequence[Mapping[str, Any]]
) -> list[QuantileVerdict]:
    """Return the quantiles of a metric, as `results.json` has them, whose verdicts differ from that of the average."""
    return [
        QuantileVerdict(
            label, metric, unit, item["share"], (item["base"], item["value"]), item["verdict"], item["by_itself"]
        )
        for item in tails
        if item["verdict"] != verdict
    ]


def describe_quantile_verdicts(changes: Sequence[QuantileVerdict]) -> str:
    """Return a sentence on quantiles that changed though their averages did not, or otherwise; empty without any."""
    if not changes:
        return ""
    texts = list_names([item.text for item in changes], MOST_NAMES)
    return f"Beside the averages: {texts}; see --details {escape_text(changes[0].metric)}."


def name_worse_quantiles(changes: Sequence[QuantileVerdict]) -> str:
    """Return the names of quantiles that are worse, and not by chance: `p99 of Wait`; empty without any."""
    worse = [
        f"{item.name} of {escape_text(item.label)}"
        for item in changes
        if item.verdict == Verdict.WORSE and not item.is_by_itself
    ]
    return list_names(worse, MOST_NAMES) if worse else ""


@dataclass(frozen=True, slots=True)
class UnjudgedChange:
    """The averages of a metric that has no interval though they differ by more than the margin, with the reason."""

    label: str
    base: float
    value: float
    reason: str

    @property
    def text(self) -> str:
        """The metric with its change: `Working time +100 %`, or `from 0`."""
        percent = format_percent(self.base, self.value)
        return f"{escape_text(self.label)} {'from 0' if percent == NO_VALUE else f'{percent} %'}"


def describe_unjudged_changes(changes: Sequence[UnjudgedChange]) -> str:
    """Return a sentence on changes beyond the margin that have no verdict, with their reasons; empty without any.

    A metric in two units, as TB and TiB, is named once.
    """
    texts_by_reason: dict[str, dict[str, None]] = {}
    for item in changes:
        texts_by_reason.setdefault(item.reason, {})[item.text] = None
    parts = [f"{list_names([*texts], MOST_NAMES)} ({reason})" for reason, texts in texts_by_reason.items()]
    return f"Beyond the margin, but without an interval: {'; '.join(parts)}." if parts else ""


def name_lost_data(labels: Sequence[str]) -> str:
    """Return how a headline goes on if data of metrics are lost: `; data lost: Wait`."""
    return f"; {Verdict.DATA_LOST}: {list_names([escape_text(item) for item in labels], MOST_NAMES)}" if labels else ""


def name_unjudged_changes(changes: Sequence[UnjudgedChange]) -> str:
    """Return how a headline goes on if metrics changed that have no interval: `; no interval: Working time +100 %`."""
    texts = list(dict.fromkeys(item.text for item in changes))
    return f"; {Verdict.NO_INTERVAL}: {list_names(texts, MOST_NAMES)}" if texts else ""


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
    """Return why the segments have no interval each: `no interval: one sample each`."""
    count = "one sample" if paired["samples"] == 1 else format_count(paired["samples"], "sample")
    return f"{Verdict.NO_INTERVAL}: {count} each"


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
        mean = f" Geometric mean: {change} % ({interval}); one run of each version does not tell it from a slower day."
    return (
        f"{describe_count(label, paired, margin)}: {rises} {of_rises}, {falls} {of_falls} ({explain_lack(paired)}). "
        f"By {by}: {name_largest(paired)}.{mean}"
    )


def compose_paired_headline(labels: tuple[str, str], label: str, paired: Mapping[str, Any], margin: str) -> str:
    """Return the outcome of a comparison in which only segments changed, that have no interval each."""
    base, run = labels
    return f"{describe_count(label, paired, margin)} from {base} to {run}"


def _write_margin(margin: str) -> str:
    return f" by more than {margin}" if margin != "0" else ""
