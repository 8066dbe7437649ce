"""Decide whether a comparison passes a gate: no metric that the gate names is worse by more than its margin.

A gate on ten metrics asks ten questions, and each has a chance to be answered wrongly. Holm's procedure (1979) keeps
the chance of any wrong answer at 1 - level: sorted p are multiplied by m, m - 1, ..., 1, and never fall.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.judgement.verdict import Direction, Judgement

Key = tuple[str, str]
"""A metric and the version that is compared with the base."""


@dataclass(frozen=True, slots=True)
class GatedMetric:
    """A metric of a gate; `p` is that of "not worse by more than the margin", `adjusted` is p after Holm."""

    key: Key
    p: float
    adjusted: float
    is_worse: bool


def adjust_by_holm(ps: Sequence[float]) -> tuple[float, ...]:
    """Return the p adjusted for their number, in the order of `ps`."""
    adjusted = [0.0] * len(ps)
    greatest = 0.0
    for rank, index in enumerate(sorted(range(len(ps)), key=lambda index: ps[index])):
        greatest = max(greatest, min(1.0, (len(ps) - rank) * ps[index]))
        adjusted[index] = greatest
    return tuple(adjusted)


def has_enough_repeats(demanded: int, runs_of_versions: Sequence[int], calibration_runs: int) -> bool:
    """Return whether each version has so many runs, or else so many calibration runs exist; 0 demands none."""
    return min(runs_of_versions, default=0) >= demanded or calibration_runs >= demanded


def assess_gate(judgements: Mapping[Key, Judgement], level: float = 0.95) -> tuple[GatedMetric, ...]:
    """Assess the metrics that a gate names, of all versions that are compared with the base, by their adjusted p.

    A metric that is not judged, or whose run is too short, counts as not worse but stays one of the family.
    Raises ValueError for a metric that is better in no direction.
    """
    keys = sorted(judgements)
    for key in keys:
        if judgements[key].direction is Direction.NEITHER:
            raise ValueError(f"metric {key[0]} of a gate is better in no direction")
    ps = [_find_p(judgements[key]) for key in keys]
    rows = zip(keys, ps, adjust_by_holm(ps), strict=True)
    metrics = [GatedMetric(key, p, adjusted, is_beyond_chance(adjusted, level)) for key, p, adjusted in rows]
    return tuple(sorted(metrics, key=lambda metric: (metric.adjusted, metric.p, metric.key)))


def is_beyond_chance(adjusted: float, level: float) -> bool:
    """Return whether an adjusted p is so small that the metric counts as worse."""
    return adjusted <= 1 - level + _ROUNDING


_ROUNDING = 1e-12  # 1 - 0.95 is a little more than 0.05 as a double, other levels a little less


def _find_p(judgement: Judgement) -> float:
    return 1.0 if judgement.p_worse is None or judgement.reason else judgement.p_worse
