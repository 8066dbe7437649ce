"""Write verdicts in sentences, for pages, gates and comments: counts, quantiles, what has no verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assay.judgement.interval import UNTRUSTED
from assay.judgement.tails import name_quantile
from assay.judgement.verdict import Verdict
from assay.number_styles.prefixed import (
    format_percent,
    format_value,
)
from assay.number_styles.row import NO_VALUE
from assay.number_styles.unit_prefix import choose_prefix
from assay.quality.finding import list_names
from assay.report.judged_cells import BY_ITSELF, NO_MARGIN
from assay.report.verdicts.recorded_change import RecordedChange, list_distinct
from assay.util.escape import escape_text
from assay.util.numbers import format_count

_COUNTED = (
    Verdict.WORSE,
    Verdict.BETTER,
    Verdict.CHANGED,
    Verdict.SAME,
    Verdict.CANNOT_TELL,
    Verdict.DATA_LOST,
    Verdict.NO_INTERVAL,
)
MOST_NAMES = 3


def measure_visible_changes(changes: Iterable[RecordedChange]) -> list[float]:
    """Return in percent which change the runs would show in each metric with a certain interval in percent.

    It is half of the width of the interval, and at least the margin.
    """
    return [
        max((change.high - change.low) / 2, change.least_margin or 0.0)
        for change in changes
        if change.low is not None and change.high is not None and change.reason not in UNTRUSTED
    ]


def count_verdicts(changes: Iterable[RecordedChange]) -> str:
    """Return the number of changes of each verdict: `2 worse, 0 better, 5 same within 2 %, 1 cannot tell`.

    If none has an interval, return why. Metrics that are better in no direction count only if they changed, or if there
    are no others: `4 metrics without a direction: 1 same, 3 cannot tell`.
    """
    counted = list(changes)
    has_directions = any(change.has_direction for change in counted) or not counted
    if has_directions:
        counted = [change for change in counted if change.has_direction or change.verdict == Verdict.CHANGED]
    listed = list_distinct(counted)
    numbers = count_by_verdict(listed)
    unjudged = [verdict for verdict in (Verdict.DATA_LOST, Verdict.NO_INTERVAL) if numbers[verdict]]
    equal = count_equal(len(counted) - len(listed))
    if listed and sum(numbers[verdict] for verdict in unjudged) == len(listed):
        text = "; ".join(f"{numbers[verdict]} {verdict}{_explain_lack(listed, verdict)}" for verdict in unjudged)
    else:
        always = (Verdict.WORSE, Verdict.BETTER, Verdict.SAME, Verdict.CANNOT_TELL) if has_directions else ()
        text = ", ".join(
            _count_verdict(listed, verdict) for verdict in _COUNTED if numbers[verdict] or verdict in always
        )
    prefix = "" if has_directions else f"{format_count(len(listed), 'metric')} without a direction: "
    return f"{prefix}{text}{equal}"


def _count_verdict(changes: Sequence[RecordedChange], verdict: Verdict) -> str:
    """Return how many changes have a verdict, and by themselves: `5 same within 2 %`, `2 worse (1 by itself)`."""
    of_verdict = [change for change in changes if change.verdict == verdict]
    within = _describe_margins(changes) if verdict is Verdict.SAME else ""
    return f"{len(of_verdict)} {verdict}{within}{count_by_itself(sum(change.is_by_itself for change in of_verdict))}"


def _describe_margins(changes: Sequence[RecordedChange]) -> str:
    """Return the margin of all changes; if they differ, that of those that are the same."""
    margins = {change.margin for change in changes}
    if len(margins) > 1:
        margins = {change.margin for change in changes if change.verdict == Verdict.SAME}
    if len(margins) > 1:
        return " within their margins"
    return f" within {margin}" if (margin := "".join(margins)) not in ("", NO_MARGIN) else ""


def count_by_itself(count: int) -> str:
    """Return how many of the metrics before have a verdict by themselves: ` (1 by itself)`; empty for none."""
    return f" ({count} by {'itself' if count == 1 else 'themselves'})" if count else ""


def count_equal(count: int) -> str:
    """Return how many further metrics have the values of another, and count with it; empty for none."""
    return f"; {count} more {'has' if count == 1 else 'have'} the values of another" if count else ""


def explain_by_itself(names: Sequence[str]) -> str:
    """Return a sentence on metrics whose verdicts are no more than chance makes of so many; empty without any."""
    return f"By itself, so perhaps by chance among so many metrics: {list_names(names, MOST_NAMES)}." if names else ""


def _explain_lack(changes: Iterable[RecordedChange], verdict: Verdict) -> str:
    """Return why metrics have no interval, to follow their number: `, because its rows have no time`."""
    counts = Counter(change.reason for change in changes if change.reason and change.verdict == verdict).most_common()
    if len(counts) == 1:
        return f", because {counts[0][0]}"
    return f": {', '.join(f'{count} because {text}' for text, count in counts)}" if counts else ""


def count_by_verdict(changes: Iterable[RecordedChange]) -> Counter[Verdict]:
    """Return how many changes have each verdict."""
    return Counter(Verdict(change.verdict) for change in changes)


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
        values = f"{base} → {value} {symbol}".rstrip()
        verdict = f"{self.verdict}{BY_ITSELF if self.is_by_itself else ''}"
        return f"{name_quantile(self.share)} of {escape_text(self.label)} {values}{change} {verdict}"


def select_main_changes(changes: Iterable[RecordedChange]) -> list[RecordedChange]:
    """Return the changes of whole metrics that are better in a direction; without any, of all whole metrics."""
    whole = [change for change in changes if not change.is_segment]
    return [change for change in whole if change.has_direction] or whole


def list_quantile_verdicts(changes: Iterable[RecordedChange]) -> list[QuantileVerdict]:
    """Return the quantiles of the main metrics whose verdicts differ from those of the averages."""
    return [
        QuantileVerdict(
            change.name,
            change.metric,
            change.unit,
            item["share"],
            (item["base"], item["value"]),
            item["verdict"],
            item["by_itself"],
        )
        for change in select_main_changes(changes)
        for item in change.tails
        if item["verdict"] != change.verdict
    ]


def describe_quantile_verdicts(changes: Iterable[RecordedChange]) -> str:
    """Return a sentence on quantiles that changed though their averages did not, or otherwise; empty without any."""
    quantiles = list_quantile_verdicts(changes)
    if not quantiles:
        return ""
    texts = list_names([item.text for item in quantiles], MOST_NAMES)
    return f"Beside the averages: {texts}; see --details {escape_text(quantiles[0].metric)}."


def name_worse_quantiles(changes: Iterable[RecordedChange]) -> str:
    """Return the names of quantiles that are worse, and not by chance: `p99 of Wait`; empty without any."""
    worse = [
        f"{name_quantile(item.share)} of {escape_text(item.label)}"
        for item in list_quantile_verdicts(changes)
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


def list_unjudged_changes(changes: Iterable[RecordedChange]) -> list[UnjudgedChange]:
    """Return the changes of the main metrics that are beyond the margin but have no interval."""
    return [
        UnjudgedChange(change.name, change.base, change.value, change.reason or "")
        for change in select_main_changes(changes)
        if change.is_moved and change.base is not None and change.value is not None
    ]


def describe_unjudged_changes(changes: Iterable[RecordedChange]) -> str:
    """Return a sentence on changes beyond the margin that have no verdict, with their reasons; empty without any.

    A metric in two units, as TB and TiB, is named once.
    """
    texts_by_reason: dict[str, dict[str, None]] = {}
    for item in list_unjudged_changes(changes):
        texts_by_reason.setdefault(item.reason, {})[item.text] = None
    parts = [f"{list_names([*texts], MOST_NAMES)} ({reason})" for reason, texts in texts_by_reason.items()]
    return f"Beyond the margin, but without an interval: {'; '.join(parts)}." if parts else ""


def name_lost_data(labels: Sequence[str]) -> str:
    """Return how a headline goes on if data of metrics are lost: `; data lost: Wait`."""
    return f"; {Verdict.DATA_LOST}: {list_names([escape_text(item) for item in labels], MOST_NAMES)}" if labels else ""


def name_unjudged_changes(changes: Iterable[RecordedChange]) -> str:
    """Return how a headline goes on if metrics changed that have no interval: `; no interval: Working time +100 %`."""
    texts = list(dict.fromkeys(item.text for item in list_unjudged_changes(changes)))
    return f"; {Verdict.NO_INTERVAL}: {list_names(texts, MOST_NAMES)}" if texts else ""
