"""Find where a change comes from: a value of a column that carries most of it, or shares of values that changed.

A value, such as a host, is a focus of the change of a metric if all of these hold:

* the metric is worse, better or changed; or it cannot be told because hosts or parts of the run differ so much;
* the samples of the value are worse, better or changed, in the same direction;
* what changed within them is at least half of the change, and more than the margin;
* they changed at least twice as much as all other samples together, in the unit of the metric and in percent, and by
  more than chance allows among as many values;
* of hosts, they changed by more than the others differ in their changes.

Shares of values are a focus if they carry at least half of the change, more than the margin, and that of the value
whose share adds most changed by more than chance allows.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from assay.judgement.batches import build_ladder
from assay.judgement.change import Change
from assay.judgement.interval import (
    Component,
    Note,
    Reason,
    Version,
    combine_with_noise,
    compare,
    estimate_spread,
)
from assay.judgement.mix import add_influences
from assay.judgement.repeats import pool_variances
from assay.judgement.split_change import (
    REMAINDER,
    PartChange,
    PartValue,
    SplitRun,
    divide_change,
    measure_part,
    measure_share,
)
from assay.judgement.student_t import floor_to_even
from assay.judgement.time_focus import LEAST_FACTOR, TimeFocus, find_time_focus
from assay.judgement.verdict import Direction, Judgement, Margin, Verdict, judge

_LEAST_SHARE = Fraction(1, 2)
_LEAST_OTHERS = 3  # hosts besides one, to tell by how much hosts differ
_DIGITS = 2**60  # weights of influences are multiples of its inverse

Pair = tuple[Version, Version]
"""Base and other version."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How a metric is judged. `whole` is the greatest value of a share, or 0; `is_exact` as for the metric."""

    margin: Margin
    direction: Direction
    level: float
    is_exact: bool = False
    whole: float = 0.0

    def judge(self, base: Version, other: Version) -> Judgement:
        """Return the verdict on two versions."""
        noise = pool_variances([base.estimates, other.estimates])
        comparison = compare(base, other, noise, is_exact=self.is_exact, whole=self.whole)
        return judge(comparison, self.margin, self.direction, self.level)


@dataclass(frozen=True, slots=True)
class Column:
    """The values of a column in the runs of base and other version. `is_cluster` says that they are hosts."""

    name: str
    base: tuple[SplitRun, ...]
    other: tuple[SplitRun, ...]
    is_cluster: bool = False


@dataclass(frozen=True, slots=True)
class ValueFocus:
    """A value that carries `share` of a change, with its judgement and that of all other samples."""

    column: str
    value: PartValue
    share: Fraction
    judgement: Judgement
    rest: Judgement
    is_cluster: bool = False


@dataclass(frozen=True, slots=True)
class MixFocus:
    """That shares of values carry `share` of a change. `weights` are those of one of them in base and other version.

    `worse` are the values whose own average has the verdict of the metric.
    """

    column: str
    value: PartValue
    share: Fraction
    weights: tuple[Fraction, Fraction]
    worse: tuple[PartValue, ...]
    is_cluster: bool = False


@dataclass(frozen=True, slots=True)
class Division:
    """The change of a metric by the values of a column."""

    column: str
    parts: tuple[PartChange, ...]

    @property
    def is_divided(self) -> bool:
        """Whether the samples have several values."""
        return len(self.parts) > 1

    @property
    def within(self) -> Fraction:
        """What changed within the values."""
        return sum((part.within for part in self.parts), Fraction(0))

    @property
    def mix(self) -> Fraction:
        """What changed by the shares of the values."""
        return sum((part.mix for part in self.parts), Fraction(0))


@dataclass(frozen=True, slots=True)
class FocusTable:
    """Where the change of a metric in a version comes from: at most three of hosts, values, shares and time.

    `averages` are those of all samples, `judgement` is on these.
    """

    version: str
    averages: tuple[Fraction, Fraction]
    judgement: Judgement
    divisions: tuple[Division, ...] = ()
    values: tuple[ValueFocus, ...] = ()
    mix: MixFocus | None = None
    time: TimeFocus | None = None

    @property
    def difference(self) -> Fraction:
        """The change of the average."""
        return self.averages[1] - self.averages[0]

    @property
    def has_focus(self) -> bool:
        """Whether something stands out."""
        return bool(self.values or self.mix or self.time)


def can_have_foci(judgement: Judgement) -> bool:
    """Return whether a metric changed, or has a wide interval because hosts or parts of the run changed differently."""
    comparison = judgement.comparison
    if judgement.verdict is not Verdict.CANNOT_TELL or comparison is None:
        return judgement.is_certain
    spread = comparison.spread
    is_slow = 0 < spread.batches < next(iter(build_ladder(comparison.units)), 0) or Note.WIDENED in spread.notes
    return is_slow or spread.reason is Reason.FEW_BATCHES or spread.decided_by is Component.HOSTS


def find_foci(
    version: str,
    averages: tuple[Fraction, Fraction],
    judgement: Judgement,
    columns: Sequence[Column],
    rules: Rules,
    metrics: int = 1,
) -> FocusTable:
    """Return where a change comes from. `averages` and `judgement` are those of all samples of the metric.

    Half of the chances of an error is for values, half for the time of the run; `metrics` share them.
    """
    table = FocusTable(version, averages, judgement)
    difference = table.difference
    if not can_have_foci(judgement) or not difference:
        return table
    divisions = tuple(Division(item.name, divide_change(item.base, item.other)) for item in columns)
    tests = sum(len(item.parts) for item in divisions)
    most_p = (1 - rules.level) / 2 / metrics
    values: dict[bool, ValueFocus] = {}
    mixes: list[MixFocus] = []
    for column, division in zip(columns, divisions, strict=True):
        if not division.is_divided:
            continue
        search = _Search(column, division, difference, rules, most_p / tests)
        focus = search.find_value()
        best = values.get(column.is_cluster)
        if focus and (best is None or focus.share > best.share):
            values[column.is_cluster] = focus
        if mix := search.find_mix():
            mixes.append(mix)
    mix = max(mixes, key=lambda item: item.share, default=None)
    time = None
    if columns:
        least = rules.margin.convert_to_amount(float(averages[0]))
        base, other = ([run.whole for run in runs] for runs in (columns[0].base, columns[0].other))
        time = find_time_focus(base, other, least, most_p)
    chosen = tuple(values[key] for key in (True, False) if key in values)
    return replace(table, divisions=divisions, values=chosen, mix=mix if len(chosen) < 2 else None, time=time)


@dataclass(frozen=True, slots=True)
class _Search:
    """The search for a focus among the values of a column; `most_p` is the greatest p of a test."""

    column: Column
    division: Division
    difference: Fraction
    rules: Rules
    most_p: float

    def find_value(self) -> ValueFocus | None:
        """Return the value that carries most of the change, if it is a focus."""
        listed = [item for item in self.division.parts if item.value != REMAINDER]
        part = max(listed, key=lambda item: item.within / self.difference)
        share = part.within / self.difference
        if share < _LEAST_SHARE or abs(part.within) <= self._compute_least():
            return None
        others = [item.value for item in self.division.parts if item is not part]
        pair, other = self._measure([part.value]), self._measure(others)
        if not all(version.runs for version in (*pair, *other)):
            return None
        judgement, rest = self.rules.judge(*pair), self.rules.judge(*other)
        if not self._is_certain(judgement) or not self._stands_out(pair, other):
            return None
        if self.column.is_cluster and not self._is_outlier(part):
            return None
        return ValueFocus(self.column.name, part.value, share, judgement, rest, self.column.is_cluster)

    def find_mix(self) -> MixFocus | None:
        """Return the change of shares, if it is a focus."""
        mix = self.division.mix
        if mix / self.difference < _LEAST_SHARE or abs(mix) <= self._compute_least():
            return None
        rising = self.difference > 0
        part = max(self.division.parts, key=lambda item: (item.mix if rising else -item.mix, item.weights[1]))
        share_rules = Rules(Margin(), Direction.NEITHER, self.rules.level)
        p = share_rules.judge(
            measure_share(self.column.base, part.value), measure_share(self.column.other, part.value)
        ).p
        if p is None or p > self.most_p:
            return None
        worse = tuple(
            item.value
            for item in self.division.parts
            if self._is_certain(self.rules.judge(*self._measure([item.value])))
        )
        return MixFocus(
            self.column.name, part.value, mix / self.difference, part.weights, worse, self.column.is_cluster
        )

    def _measure(self, values: Collection[PartValue]) -> Pair:
        return measure_part(self.column.base, values), measure_part(self.column.other, values)

    def _is_certain(self, judgement: Judgement) -> bool:
        """Return whether some samples changed for certain, in the direction of the whole."""
        comparison = judgement.comparison
        return bool(judgement.is_certain and comparison and comparison.difference.value * self.difference > 0)

    def _compute_least(self) -> float:
        parts = self.division.parts
        base = sum((item.weights[0] * item.averages[0] for item in parts if item.averages[0] is not None), Fraction(0))
        return self.rules.margin.convert_to_amount(float(base))

    def _stands_out(self, pair: Pair, rest: Pair) -> bool:
        """Return whether a value changed at least twice as much as the rest, by more than chance allows."""
        means = [version.mean for version in (*pair, *rest)]
        scales = [(Fraction(1), Fraction(1))]
        if min(means) > 0:
            scales.append((pair[0].mean, rest[0].mean))
        for scale in scales:
            changes = [(item[1].mean - item[0].mean) / unit for item, unit in zip((pair, rest), scale, strict=True)]
            if abs(changes[0]) < LEAST_FACTOR * abs(changes[1]):
                return False
            if _compare_changes(pair, rest, scale).compute_p() > self.most_p:
                return False
        return True

    def _is_outlier(self, part: PartChange) -> bool:
        """Return whether a host changed by more than the others differ in their changes; True for few hosts.

        Of hosts that all differ alike, one is an outlier with the probability of an error of the level.
        """
        changes = {
            item.value: _measure_change(*item.averages)
            for item in self.division.parts
            if item.averages[0] is not None and item.averages[1] is not None
        }
        others = [change for value, change in changes.items() if value != part.value]
        if len(others) < _LEAST_OTHERS:
            return True
        mean = math.fsum(others) / len(others)
        variance = math.fsum((item - mean) ** 2 for item in others) / (len(others) - 1)
        error = math.sqrt(variance * (1 + 1 / len(others)))
        change = Change(changes[part.value] - mean, error, floor_to_even(len(others) - 1))
        return change.compute_p() <= (1 - self.rules.level) / len(changes)


def _measure_change(base: Fraction | None, other: Fraction | None) -> float:
    """Return a change in parts of its base, or the difference from a base that is not above 0."""
    assert base is not None
    assert other is not None
    return float((other - base) / base) if base > 0 else float(other - base)


def _compare_changes(pair: Pair, rest: Pair, scale: tuple[Fraction | int, Fraction | int]) -> Change:
    """Return by how much the change of a value exceeds that of the rest, each in parts of its scale.

    d_k = (s_k(other) - r s_k(base)) / scale of the value, less the same of the rest, with the batches of both paired; r
    is the ratio of the averages, or 1 for a scale of 1.
    """
    changes = [(two.mean - one.mean) / unit for (one, two), unit in zip((pair, rest), scale, strict=True)]
    is_ratio = scale != (1, 1)
    ratios = [two.mean / one.mean if is_ratio else Fraction(1) for one, two in (pair, rest)]
    base, other = (
        _subtract((pair[side], rest[side]), (_round(factors[0] / scale[0]), _round(factors[1] / scale[1])))
        for side, factors in enumerate((ratios, [Fraction(1)] * 2))
    )
    within = estimate_spread(base.runs, other.runs, 1.0)
    noise = pool_variances([base.estimates, other.estimates])
    spread = combine_with_noise(within, noise, len(base.estimates), len(other.estimates))
    if spread is None:
        return Change(0.0, 1.0, floor_to_even(0))  # too few units of time: nothing stands out
    return Change(float(changes[0] - changes[1]), math.sqrt(spread.variance), spread.df)


def _subtract(versions: Pair, weights: tuple[Fraction, Fraction]) -> Version:
    """Return the weighted difference of two versions with the same runs; its batches fill any part of its sum."""
    one, two = versions
    runs = [
        replace(add_influences([(weights[0], first), (-weights[1], second)]), mean=Fraction(0))
        for first, second in zip(one.runs, two.runs, strict=True)
    ]
    pairs = zip(one.estimates, two.estimates, strict=True)
    return Version(tuple(weights[0] * first - weights[1] * second for first, second in pairs), tuple(runs))


def _round(number: Fraction) -> Fraction:
    """Return nearly the same number, with few digits: those of products are many."""
    return Fraction(round(number * _DIGITS), _DIGITS)
