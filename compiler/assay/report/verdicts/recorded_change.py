"""Hold judged changes as `results.json` has them: write them as plain data, and read these."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from assay.judgement.change import Interval
from assay.judgement.gate import is_beyond_chance
from assay.judgement.interval import Reason
from assay.judgement.report_judgements import JudgedChange, ReportJudgements
from assay.judgement.tails import name_quantile
from assay.judgement.verdict import Direction, Verdict
from assay.lang.model.package import Metric
from assay.lang.segments import is_segment
from assay.report.judged_cells import format_margin, format_verdict
from assay.report.mixes import build_mix_data


@dataclass(frozen=True, slots=True)
class RecordedChange:
    """The change of a metric in a run; numbers are None where nothing is known.

    `section` is the title of the section that shows the metric, `better` its better direction, `base` and `value` are
    averages in `unit`. `low` and `high` are the ends of the interval in percent; from a base of 0 there is only that of
    the difference. `margin` is the margin in words, `least_margin` in percent. `p_margin` is that of "not worse by more
    than the margin", and `p` the same adjusted for the number of gated metrics; None outside of the gate. `df` are the
    degrees of freedom of the interval. `is_closing` says whether the metric closes the gate, `is_worse_uncorrected`
    whether only the adjustment keeps it from doing so. `paired` is what its segments show together
    if each has too few samples.
    `is_moved` says whether the metric has no interval although it changed by more than its margin. `mix` is how samples
    differ in the values of a dimension, if they do: averages and change are then those of the common values. `tails`
    are the quantiles that changed beyond the margin, with their verdicts. `is_by_itself` says that so many metrics have
    such a verdict by chance. `equal_to` is an earlier metric with the same averages and interval, with which it counts
    as one.
    """

    metric: str
    name: str
    unit: str
    section: str
    verdict: str
    reason: str | None
    better: str
    base: float | None
    value: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    percent: float | None
    low: float | None
    high: float | None
    p_margin: float | None
    p: float | None
    df: float | None
    margin: str
    least_margin: float | None
    is_closing: bool
    is_worse_uncorrected: bool
    paired: Mapping[str, Any] = field(default_factory=dict)
    is_moved: bool = False
    mix: Mapping[str, Any] = field(default_factory=dict)
    tails: tuple[Mapping[str, Any], ...] = ()
    is_by_itself: bool = False
    equal_to: str = ""

    @property
    def is_worse(self) -> bool:
        """Whether the metric is worse by its verdict, or closes the gate."""
        return self.verdict == "worse" or self.is_closing

    @property
    def gate_text(self) -> str:
        """The verdict as a gate has it: a metric that closes it for another reason than its interval says why."""
        if not self.is_closing or self.verdict == Verdict.WORSE:
            return self.verdict_text
        names = ", ".join(name_quantile(item["share"]) for item in self.tails if item["closes"])
        return f"worse in {names}" if names else "worse (one-sided)"

    @property
    def verdict_text(self) -> str:
        """The verdict, and whether chance may explain it: `worse, by itself`."""
        return format_verdict("", self.verdict, self.is_by_itself)

    @property
    def is_segment(self) -> bool:
        """Whether the metric is a segment of another one."""
        return is_segment(self.metric)

    @property
    def has_direction(self) -> bool:
        """Whether the metric is better in a direction; if not, it is a condition of the others."""
        return self.better != Direction.NEITHER

    @property
    def is_other_condition(self) -> bool:
        """Whether the metric shows that runs differ in their conditions, if it is better in no direction."""
        return (self.is_moved and self.reason == Reason.CONSTANT) or self.verdict == Verdict.CHANGED

    @property
    def is_certain(self) -> bool:
        """Whether the metric changed beyond its margin."""
        return self.verdict in (Verdict.WORSE, Verdict.BETTER, Verdict.CHANGED)

    @property
    def is_gateable(self) -> bool:
        """Whether a gate may decide on the metric: it is judged, and better in a direction."""
        return self.p_margin is not None and not self.reason and self.has_direction

    @property
    def lacks_samples(self) -> bool:
        """Whether there are no samples to judge the metric by, or a run has lost the value that the base has."""
        return self.reason in (Reason.NO_SAMPLES, Reason.LOST_SAMPLES) or (self.base is not None and self.value is None)

    @property
    def has_interval(self) -> bool:
        """Whether the change has an interval, in percent or as a difference."""
        return self.percent is not None or self.is_from_zero

    @property
    def is_from_zero(self) -> bool:
        """Whether the change is judged, but has no percentage because the base is 0."""
        return self.percent is None and self.difference is not None

    @property
    def judged_ends(self) -> tuple[float, float] | None:
        """The ends of the interval that the verdict is on: in percent, or of the difference from 0; None without."""
        low, high = (self.difference_low, self.difference_high) if self.is_from_zero else (self.low, self.high)
        return None if low is None or high is None else (low, high)

    @property
    def worst_end(self) -> float | None:
        """The end of the interval in percent that is worse for a metric with a direction."""
        return self.low if self.better == "higher" else self.high

    @property
    def is_undecided(self) -> bool:
        """Whether a gated metric passes, though its interval or a run that is too short allows that it is worse."""
        if self.p is None or self.is_closing or self.verdict != Verdict.CANNOT_TELL:
            return False
        end = 0.0 if self.worst_end is None else self.worst_end
        is_beyond = (-end if self.better == "higher" else end) > (self.least_margin or 0.0)
        return is_beyond or self.is_from_zero or self.reason is not None

    @property
    def certain_change(self) -> float:
        """How far the interval is from no change, in percent; 0 if it holds 0 or is not known.

        A change from a base of 0 is infinitely many percent.
        """
        distance = Interval(*self.judged_ends).distance if self.judged_ends else 0.0
        return math.inf if distance and self.is_from_zero else distance


def list_distinct(changes: Iterable[RecordedChange]) -> list[RecordedChange]:
    """Return changes, perhaps of several versions, one of those that are equal: the one that others are equal to."""
    every = list(changes)
    listed: list[RecordedChange] = []
    subjects = {_identify_values(change) for change in every if not change.equal_to}
    for change in every:
        if not change.equal_to or _identify_values(change) not in subjects:
            listed.append(change)
        subjects.add(_identify_values(change))
    return listed


def _identify_values(change: RecordedChange) -> tuple[object, ...]:
    return change.equal_to or change.metric, change.base, change.value, change.low, change.high


def build_change_data(metric: str, change: JudgedChange, level: float) -> dict[str, object]:
    """Return the judgement of a change as plain data; numbers are null where there is no interval.

    From a base of 0 there is only the interval of the difference.
    """
    judgement, comparison = change.judgement, change.judgement.comparison
    margin = change.margin.resolve(comparison.base) if comparison else change.margin
    percent, interval = (comparison.percent, judgement.interval) if comparison and comparison.percent else (None, None)
    difference = comparison.difference.compute_interval(level) if comparison else None
    return {
        **({"equal_to": change.equal_to} if change.equal_to not in ("", metric) else {}),
        "verdict": judgement.verdict.value,
        "reason": judgement.reason.value if judgement.reason else None,
        "better": judgement.direction.value,
        "difference": comparison.difference.value if comparison else None,
        "difference_low": difference.low if difference else None,
        "difference_high": difference.high if difference else None,
        "percent": percent.value if percent else None,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "p": judgement.p,
        "p_margin": judgement.p_worse,
        "gate": change.adjusted,
        "margin": {"percent": margin.percent, "amount": margin.amount, "least": judgement.margin if percent else None},
        "df": comparison.judged.df if comparison else None,
        "batches": comparison.spread.batches if comparison else None,
        "units": comparison.units if comparison else None,
        "decided_by": comparison.spread.decided_by.value if comparison else None,
        "notes": [note.value for note in comparison.spread.notes] if comparison else [],
        **({"paired": change.paired.to_json()} if change.paired else {}),
        "tails": [item.to_json() for item in change.tails],
        "moved": change.is_moved,
        "by_itself": change.is_by_itself,
        **({"mix": build_mix_data(change.mix, comparison)} if change.mix else {}),
    }


@dataclass(frozen=True, slots=True)
class ComparedAverages:
    """The averages of a metric in the base and in a run; its id, name, and symbol of its unit, and its section."""

    metric: str
    name: str
    unit: str
    section: str
    averages: tuple[float | None, float | None]


def parse_change(compared: ComparedAverages, data: Mapping[str, Any], level: float) -> RecordedChange:
    """Return the change of averages from its judgement as `results.json` holds it."""
    averages = compared.averages
    p, p_margin = read_number(data["gate"]), read_number(data["p_margin"])
    mix = data.get("mix", {})
    if mix and mix["base"] is not None:
        averages = read_number(mix["base"]), read_number(mix["value"])
    change = RecordedChange(
        compared.metric,
        compared.name,
        compared.unit,
        compared.section,
        str(data["verdict"]),
        str(data["reason"]) if data["reason"] else None,
        str(data["better"]),
        *averages,
        read_number(data["difference"]),
        read_number(data["difference_low"]),
        read_number(data["difference_high"]),
        read_number(data["percent"]),
        read_number(data["low"]),
        read_number(data["high"]),
        p_margin,
        p,
        read_number(data["df"]),
        format_margin(data["margin"], compared.unit),
        read_number(data["margin"]["least"]),
        False,
        False,
        data.get("paired", {}),
        bool(data.get("moved")),
        mix,
        tuple(data.get("tails", ())),
        bool(data.get("by_itself")),
        str(data.get("equal_to", "")),
    )
    return change if p is None else decide_change(change, p, level)


def record_change(
    judgements: ReportJudgements,
    metric: Metric,
    version: str,
    section: str,
    averages: tuple[float | None, float | None],
) -> RecordedChange:
    """Return the judged change of a metric in a version as results hold it, from the averages of base and version."""
    data = build_change_data(metric.id, judgements.changes[metric.id, version], judgements.level)
    compared = ComparedAverages(metric.id, metric.name, metric.unit.symbol, section, averages)
    return parse_change(compared, data, judgements.level)


def decide_change(change: RecordedChange, p: float, level: float) -> RecordedChange:
    """Return a change as a gate has it in which its adjusted p is `p`."""
    is_closing = is_beyond_chance(p, level) or any(item["closes"] for item in change.tails)
    is_decided = change.p_margin is not None and not change.reason
    is_worse_uncorrected = is_decided and not is_closing and is_beyond_chance(change.p_margin or 0.0, level)
    return replace(change, p=p, is_closing=is_closing, is_worse_uncorrected=is_worse_uncorrected)


def read_number(value: object) -> float | None:
    if value is None or isinstance(value, (int, float)):
        return value
    raise TypeError(f"not a number: {value!r}")
