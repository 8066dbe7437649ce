"""Estimate the change of a metric between two versions, with what is uncertain of it.

Batches of both versions are paired: the first tenth of one run with the first tenth of the other. What all runs share
at that time (an epoch that starts, a load that grows) cancels. s_k are influences of batches
(`assay.judgement.batches`), r is the ratio of the averages, or 1 for the difference:

    d_k = s_k(other) - r s_k(base)
    V_T = B/(B-1) sum d_k^2                                      B - 1 degrees of freedom
    B   = the first of the ladder with r1 + 1/B < 1/sqrt(B),     r1 = sum d_k d_(k+1) / sum d_k^2

If neighbours on the rung before are alike, r1 > 0, those of the next may still be, by about r = r1/2, at most 0.6. Then
V_T is (1 + r)/(1 - r) times as great, as for an autoregressive process.

If no rung of the ladder has such batches, the run is too short for how slowly the metric varies. Then V_T is that of
the last rung times 4, or times 9 if r1 of the first is above 0.75.

Hosts are a second level, if both versions have at least two of the same names. With d_h and d_kh, the same of hosts and
of cells, and H hosts; if the numbers of hosts differ and fewer than two are the same, the change is open:

    V_H = H/(H-1) sum d_h^2,   V_C = sum d_kh^2
    V   = V_T                              if V_H <= F.90(H-1, inf) V_C
          max(V_T, V_T + V_H - V_C)        else, with (V_T + V_H)^2 / (V_T^2/(B-1) + V_H^2/(H-1)) degrees of freedom

The interval of the difference is Δ ± t sqrt(V) with r = 1, that of the ratio r exp(± t sqrt(V) / m(other))
(`assay.judgement.change`).

If the sums of both versions fill fewer than four batches, 1 / sum h_k^2 < 4 with their shares h_k, r follows these, and
d_k is nearly 0 whatever the noise. Then the change is open, unless hosts show that nothing is hidden: V_C <= 2 V_T.

If all samples of one version are 0, no event has occurred in it, and its batches do not show by how much their number
varies. It counts as much as that of the other version: V is twice as great. From a base of 0 there is no ratio.

A change without noise is exact, and V is 0: batches pair off exactly, or all runs of a version have one value
(`_is_exact`).

Repeats are a third: V_r = s^2 (1/R_base + 1/R_other), with s^2 of `assay.judgement.repeats`. Of V and V_r, each with
its degrees of freedom (cut to an even number), that with the wider 95 % interval decides, or V_r if V has a reason not
to be trusted. If the greater variance
decided, three runs would give intervals that cover 93 % where runs differ a little more than they vary.

Sources: batch means with a test of von Neumann's kind (Fishman 1978); variances of two-way clusters (Cameron, Gelbach
and Miller 2011); degrees of freedom after Satterthwaite (1946).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

from assay.judgement.batches import LEAST_UNITS, RunInfluence, average_columns, build_ladder, merge_cells, merge_places
from assay.judgement.change import Change, RatioChange, compute_log
from assay.judgement.f_quantile import find_f_90
from assay.judgement.repeats import LEAST_DF, RunNoise
from assay.judgement.student_t import compute_quantile, floor_to_even
from assay.util.percent_change import compute_percent_change

_LEAST_HOSTS = 2
_LEAST_FILLED = 4  # batches that the sum of a version must fill
_WIDENED, _WIDENED_MOST = 2, 3  # times the error, where all batches are too short: bench/verdicts.py compares factors
_MOST_REST = 0.6  # correlation of neighbours that longer batches may still have
_STRONG = 0.75  # correlation of neighbours among the shortest batches
_MOST_CHANCE = 0.05
_ROUNDING = 1e-12  # of an average: a smaller error is that of doubles
_UPPER = 0.975  # also for other levels: one variance decides on intervals and verdicts alike
_Key = TypeVar("_Key", bound=Hashable)


class Component(StrEnum):
    """The part of the variance that decides how wide an interval is."""

    TIME = "time"
    HOSTS = "time and hosts"
    RUNS = "runs"
    EXACT = "equal samples"


class Note(StrEnum):
    """What a reader has to know of an interval."""

    OTHER_HOSTS = "hosts have other names: differences between hosts are not in the interval"
    SOME_OTHER_HOSTS = "some hosts are in one run only"
    NOT_EXACT = "the metric is declared exact, but runs of one version differ"
    WIDENED = "the run is short for how slowly this varies: the interval is two or three times as wide for it"


class Reason(StrEnum):
    """Why there is no interval, or what is uncertain beside it."""

    NO_TIME = "its rows have no time"
    FORMULA = "it is computed from other metrics"
    NO_SAMPLES = "no run has samples"
    LOST_SAMPLES = "a run has no samples, though another has"
    LOST_RECORDS = "records are missing from one version"
    TOO_LARGE = "a sample is too large to be summed up"
    TOO_SMALL = "its samples need more than 9 decimals: give it a smaller unit"
    ONE_VALUE = "one value per run: it needs repeats"
    ONE_UNIT = "all samples of a run have the same time"
    FEW_SAMPLES = "a run has fewer than 5 samples"
    TOO_FEW_UNITS = "its samples have fewer than 5 distinct times"
    TOO_FEW_SAMPLES = "fewer than 10 samples lie beyond"
    BREAK = "a break lies between the runs: their values are not comparable"
    OTHER_VALUES = "its samples are of other things in the runs"
    IMPOSSIBLE = "too many of its samples cannot be what it measures"
    ABOVE_BOUNDS = "percentiles lie above the greatest bound of the histogram, so only a lower bound is known"
    CONSTANT = "it is constant within each run"
    TOO_FEW_RUNS = "fewer than 3 earlier runs have a value of the same definition"
    EQUAL_RUNS = "all earlier runs have the same value"
    TOO_SHORT = "the run is too short for how slowly this varies"
    FEWER_HOSTS = "hosts of one version are missing from another, so how much of the change they are is not known"
    FEW_BATCHES = "most of it lies in a short part of the run, so how much it varies is not known"


UNTRUSTED = (Reason.FEWER_HOSTS, Reason.FEW_BATCHES)
"""Reasons for which an interval may be too narrow by any factor."""


@dataclass(frozen=True)
class Version:
    """The runs of one version.

    `estimates` are the averages of the runs. `runs` is empty if the metric has no cells; `reason` then says why.
    `is_constant` says whether each run has at least 5 samples, and these are all equal.
    """

    estimates: tuple[Fraction, ...]
    runs: tuple[RunInfluence, ...] = ()
    reason: Reason = Reason.NO_TIME
    is_constant: bool = False

    @classmethod
    def from_runs(cls, runs: Iterable[RunInfluence]) -> Version:
        """Return the version with these runs."""
        every = tuple(runs)
        return cls(tuple(run.mean for run in every), every)

    @cached_property
    def mean(self) -> Fraction:
        """The average of the runs' averages."""
        return sum(self.estimates, Fraction(0)) / len(self.estimates)

    @property
    def has_negative(self) -> bool:
        """Whether the average of a run is below 0, or the sum of a cell."""
        return any(item < 0 for item in self.estimates) or any(run.has_negative for run in self.runs)


@dataclass(frozen=True, slots=True)
class Spread:
    """The variance of a change in the metric's unit squared, with its degrees of freedom and the part that decided.

    `batches` is 0 if only repeats are known. `reason` says why the variance may be too small for a verdict.
    """

    variance: float
    df: int
    decided_by: Component
    batches: int = 0
    reason: Reason | None = None
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """The change of a metric between two versions.

    `base` and `value` are the averages in the metric's unit. `percent` is None if the base is 0. `spread` is that of
    `judged`. `units` is the least number of units of time of a run, 0 where the metric has no cells.
    """

    base: float
    value: float
    difference: Change
    percent: Change | None
    spread: Spread
    units: int

    @property
    def judged(self) -> Change:
        """The change that verdicts are on: in percent, or the difference if the base is 0."""
        return self.percent or self.difference


def compare(
    base: Version, other: Version, noise: RunNoise | None = None, *, is_exact: bool = False, whole: float = 0.0
) -> Comparison | Reason:
    """Estimate the change from one version to another; return the reason if nothing can be said of it.

    With `noise` of at least 2 degrees of freedom, metrics are judged that have no time, are constant within a run, or
    have too few units: repeats show what they vary by. `is_exact` says that the metric is declared to be equal in all
    runs of a version, `whole` is the greatest value of a share, or 0.
    """
    if not base.estimates or not other.estimates:
        return Reason.LOST_SAMPLES if base.estimates or other.estimates else Reason.NO_SAMPLES
    if _is_exact(base, other, noise, is_exact, Fraction(whole)):
        return _compare_exactly(base, other)
    differs = is_exact and any(len(set(version.estimates)) > 1 for version in (base, other))
    of_difference = _estimate_total(base, other, 1.0, noise)
    if isinstance(of_difference, Reason):
        return of_difference
    of_percent = _estimate_percent(base, other, noise) if base.mean else (None, of_difference)
    if isinstance(of_percent, Reason):
        return of_percent
    percent, spread = of_percent
    if differs:
        spread = replace(spread, notes=(*spread.notes, Note.NOT_EXACT))
    change = other.mean - base.mean
    return Comparison(
        float(base.mean),
        float(other.mean),
        Change(float(change), math.sqrt(of_difference.variance), of_difference.df),
        percent,
        spread,
        min((run.units for run in (*base.runs, *other.runs)), default=0),
    )


def estimate_spread(base: Sequence[RunInfluence], other: Sequence[RunInfluence], ratio: float) -> Spread | None:
    """Estimate the variance of `other - ratio * base` from batches of time and from hosts; None for too few units.

    Several runs of a version are averaged batch by batch.
    """
    spread, influences, correlations = None, [], []
    for batches in build_ladder(min(run.units for run in (*base, *other))):
        influences = [_average_batches(base, batches), _average_batches(other, batches)]
        differences = [after - ratio * before for before, after in zip(*influences, strict=True)]
        spread = _spread_over_time(differences)
        if not spread.reason:
            break
        correlations.append(correlate_neighbours(differences))
    if spread is None:
        return None
    if spread.reason:
        factor = _WIDENED_MOST if correlations[0] > _STRONG else _WIDENED
        spread = replace(spread, variance=factor**2 * spread.variance, notes=(Note.WIDENED,))
    elif correlations:
        rest = min(_MOST_REST, max(0.0, correlations[-1] / 2))
        spread = replace(spread, variance=(1 + rest) / (1 - rest) * spread.variance)
    means = [_average_means(base), _average_means(other)]
    if all(map(_lies_in_few_batches, influences, means)) and not _is_known_from_hosts(spread, base, other, ratio):
        spread = replace(spread, reason=spread.reason or Reason.FEW_BATCHES)
    return _add_hosts(spread, base, other, ratio)


def estimate_reach(version: Version, noise: RunNoise | None = None, level: float = 0.95) -> float | None:
    """Return the half-width of the interval of a version's average, in percent of it; None if it is not known."""
    within = estimate_spread(version.runs, version.runs, 0.0) if version.runs else None
    count = 2 * len(version.estimates)  # the mean of R runs varies by 1/R, which is 1/2R of each side
    total = combine_with_noise(within, noise, count, count) if count else None
    if total is None or not total.variance or not version.mean:
        return None
    return 100 * compute_quantile((1 + level) / 2, total.df) * math.sqrt(total.variance) / abs(float(version.mean))


def are_uncorrelated(differences: Sequence[float]) -> bool:
    """Return whether neighbours among n numbers, whose sum is 0, are no more alike than chance allows.

    r1 + 1/n < 1/sqrt(n): r1 of independent numbers has the mean -1/n and a standard deviation of nearly 1/sqrt(n).
    """
    count = len(differences)
    return correlate_neighbours(differences) + 1 / count < 1 / math.sqrt(count)


def correlate_neighbours(differences: Sequence[float]) -> float:
    """Return the correlation r1 of neighbours among numbers whose sum is 0; -1 if all are 0."""
    squares = math.fsum(item * item for item in differences)
    return math.fsum(one * following for one, following in pairwise(differences)) / squares if squares else -1.0


def combine_with_noise(within: Spread | None, noise: RunNoise | None, base_runs: int, other_runs: int) -> Spread | None:
    """Return that variance, within runs or between runs, which gives the wider interval; None if neither is known.

    Runs that are too short for the one are not so for the other: repeats show all that varies.
    """
    if noise is None or noise.df < LEAST_DF:
        return within
    variance, df = noise.variance * (1 / base_runs + 1 / other_runs), floor_to_even(noise.df)
    if within and not within.reason and _measure_reach(within.variance, within.df) >= _measure_reach(variance, df):
        return within
    notes = tuple(note for note in within.notes if note is not Note.WIDENED) if within else ()
    return Spread(variance, df, Component.RUNS, within.batches if within else 0, None, notes)


def _estimate_percent(base: Version, other: Version, noise: RunNoise | None) -> tuple[Change, Spread] | Reason:
    """Estimate the change in percent with its variance: as a ratio, if no sample can be below 0 and not all are 0.

    Otherwise there is no ratio, and the change is the difference in percent of the base.
    """
    is_signed = base.has_negative or other.has_negative
    has_ratio = bool(other.mean) and not is_signed
    ratio = float(other.mean / base.mean) if has_ratio else 1.0
    if has_ratio and noise:
        noise = RunNoise(noise.variance * _find_noise_factor(other.mean / base.mean) ** 2, noise.df)
    spread = _estimate_total(base, other, ratio, noise)
    if isinstance(spread, Reason):
        return spread
    percent, error = float(compute_percent_change(base.mean, other.mean)), math.sqrt(spread.variance)
    if has_ratio:
        return RatioChange(percent, error / float(other.mean), spread.df), spread
    least = -math.inf if is_signed else -100.0
    return Change(percent, 100 * error / abs(float(base.mean)), spread.df, least), spread


def _find_noise_factor(ratio: Fraction) -> float:
    """Return the value of the other version divided by the logarithmic mean of both.

    Noise from run to run is pooled over versions, so it is noise at a level between them. With the logarithmic mean as
    that level, a change in percent has the p of the difference.
    """
    return compute_log(ratio) / float(1 - 1 / ratio) if ratio != 1 else 1.0


def _estimate_total(base: Version, other: Version, ratio: float, noise: RunNoise | None) -> Spread | Reason:
    """Return the variance of a change, or why it is not known."""
    within, reason = None, next((item.reason for item in (base, other) if not item.runs), None)
    if reason is None:
        within = estimate_spread(base.runs, other.runs, ratio)
        few_units = describe_lack_of_units(*min((run.units, run.samples) for run in (*base.runs, *other.runs)))
        reason = few_units if within is None else Reason.CONSTANT
        if within and _has_only_zeros(base, other):
            within = replace(within, variance=2 * within.variance)
    total = combine_with_noise(within, noise, len(base.estimates), len(other.estimates))
    least = _ROUNDING * float(max(abs(base.mean), abs(other.mean)))
    if total and total.variance > least**2:
        return total
    varies = any(any(run.by_place) for run in (*base.runs, *other.runs))
    return replace(within, variance=0.0, decided_by=Component.EXACT) if within and varies else reason


def _is_exact(base: Version, other: Version, noise: RunNoise | None, is_declared: bool, whole: Fraction) -> bool:
    """Return whether a change has no noise: the runs of each version have one value, and so would further runs.

    That is so

    * if the metric is declared to be exact;
    * if a metric of two values would seldom divide so many runs by version (`_compute_chance`);
    * if all samples of both versions are equal, or those of each host;
    * if it is a share, all samples of one version are 0, and all of the other are the whole.

    Other metrics that are constant within a run may differ between runs of one version, as the size of a heap does.
    """
    versions = (base, other)
    if (noise and noise.variance) or any(len(set(version.estimates)) > 1 for version in versions):
        return False
    if is_declared or _compute_chance(*(len(version.estimates) for version in versions)) <= _MOST_CHANCE:
        return True
    if base.mean == other.mean and _have_equal_constants((*base.runs, *other.runs)):
        return True
    is_whole = whole > 0 and {base.mean, other.mean} == {0, whole}
    return all(version.is_constant for version in versions) and (base.mean == other.mean or is_whole)


def _have_equal_constants(runs: Sequence[RunInfluence]) -> bool:
    """Return whether each host of runs has one constant, the same in all of them."""
    is_constant = all(run.units >= LEAST_UNITS and not any(run.by_cell.values()) for run in runs)
    return bool(runs) and is_constant and all(run.by_cluster == runs[0].by_cluster for run in runs)


def _compute_chance(one: int, other: int) -> float:
    """Return how probable it is that two values divide so many runs by version, if a run has one of them by chance.

    The probability of the values is that which makes it most probable: 3 and 3 runs: 3 %, 1 and 7: 5 %.
    """
    share = one / (one + other)
    return share**one * (1 - share) ** other + share**other * (1 - share) ** one


def _compare_exactly(base: Version, other: Version) -> Comparison:
    """Return a change without noise."""
    return Comparison(
        float(base.mean),
        float(other.mean),
        Change(float(other.mean - base.mean), 0.0, 0),
        Change(float(compute_percent_change(base.mean, other.mean)), 0.0, 0) if base.mean else None,
        Spread(0.0, 0, Component.EXACT),
        min((run.units for run in (*base.runs, *other.runs)), default=0),
    )


def describe_lack_of_units(units: int, samples: int) -> Reason:
    """Return why a run with so many samples of fewer than 21 units of time has no interval.

    A single sample is what a reduction by no columns yields, such as the percentile of a run.
    """
    if samples == 1:
        return Reason.ONE_VALUE
    if units == 1:
        return Reason.ONE_UNIT
    return Reason.TOO_FEW_UNITS if build_ladder(samples) else Reason.FEW_SAMPLES


def _has_only_zeros(base: Version, other: Version) -> bool:
    """Return whether all samples of one of the versions are 0, if none of the other is below 0."""
    return not (base.mean and other.mean) and not (base.has_negative or other.has_negative)


def _measure_reach(variance: float, df: int) -> float:
    return compute_quantile(_UPPER, df) * math.sqrt(variance)


def _average_batches(runs: Sequence[RunInfluence], batches: int) -> tuple[float, ...]:
    return average_columns([merge_places(run, batches) for run in runs])


def _average_means(runs: Sequence[RunInfluence]) -> float:
    return float(sum((run.mean for run in runs), Fraction(0)) / len(runs))


def _lies_in_few_batches(influences: Sequence[float], mean: float) -> bool:
    """Return whether the sum of the samples of a version fills fewer than `_LEAST_FILLED` batches.

    The number of batches that it fills is 1 / sum h_k^2, with the shares h_k = s_k / m + 1/B of the batches in the sum.
    """
    squares = math.fsum(item * item for item in influences)
    return mean > 0 and _LEAST_FILLED * (squares + mean * mean / len(influences)) > mean * mean


def _is_known_from_hosts(
    spread: Spread, base: Sequence[RunInfluence], other: Sequence[RunInfluence], ratio: float
) -> bool:
    """Return whether the cells of hosts vary about as much as the batches: these then do not hide any noise."""
    if len(set.intersection(*(set(run.by_cluster) for run in (*base, *other)))) < _LEAST_HOSTS:
        return False
    return _add_squares_of_cells(spread.batches, base, other, ratio) <= 2 * spread.variance


def _spread_over_time(differences: Sequence[float]) -> Spread:
    count = len(differences)
    variance = count / (count - 1) * math.fsum(item * item for item in differences)
    reason = None if are_uncorrelated(differences) else Reason.TOO_SHORT
    return Spread(variance, count - 1, Component.TIME, count, reason)


def _add_hosts(spread: Spread, base: Sequence[RunInfluence], other: Sequence[RunInfluence], ratio: float) -> Spread:
    """Return the variance with the differences between hosts, where these are greater than chance allows."""
    names = [run.by_cluster.keys() for run in (*base, *other)]
    every, shared = set().union(*names), set(names[0]).intersection(*names)
    if len(shared) < _LEAST_HOSTS:
        reason = Reason.FEWER_HOSTS if len({len(item) for item in names}) > 1 else None
        return replace(spread, reason=spread.reason or reason, notes=(Note.OTHER_HOSTS,)) if len(every) > 1 else spread
    if len(shared) < len(every):
        spread = replace(spread, notes=(Note.SOME_OTHER_HOSTS,))
    by_host = _subtract([run.by_cluster for run in base], [run.by_cluster for run in other], ratio)
    of_time, count, hosts = spread.variance, spread.batches, len(every)
    of_hosts = hosts / (hosts - 1) * math.fsum(item * item for item in by_host)
    of_cells = _add_squares_of_cells(spread.batches, base, other, ratio)
    if of_hosts <= find_f_90(hosts - 1) * of_cells:
        return spread
    df = (of_time + of_hosts) ** 2 / (of_time**2 / (count - 1) + of_hosts**2 / (hosts - 1))
    variance = max(of_time, of_time + of_hosts - of_cells)
    return replace(spread, variance=variance, df=floor_to_even(df), decided_by=Component.HOSTS)


def _add_squares_of_cells(
    batches: int, base: Sequence[RunInfluence], other: Sequence[RunInfluence], ratio: float
) -> float:
    cells_of_base = [merge_cells(run, batches) for run in base]
    cells_of_other = [merge_cells(run, batches) for run in other]
    return math.fsum(item * item for item in _subtract(cells_of_base, cells_of_other, ratio))


def _subtract(base: Sequence[Mapping[_Key, float]], other: Sequence[Mapping[_Key, float]], ratio: float) -> list[float]:
    """Return the mean of `other` less that of `base`, for each key of any of them; an absent influence is 0."""
    keys = set[_Key]().union(*base, *other)
    return [_average(other, key) - ratio * _average(base, key) for key in keys]


def _average(runs: Sequence[Mapping[_Key, float]], key: _Key) -> float:
    return math.fsum(run.get(key, 0.0) for run in runs) / len(runs)
