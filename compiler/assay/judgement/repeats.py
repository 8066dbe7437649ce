"""Measure how much runs of one version differ from each other.

The interval of two runs holds only what varies within them. Runs of one version on one cluster differ by more: hosts
are placed anew, caches are filled otherwise, the network has another day. Only repeats show that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from assay.util.numbers import format_count

LEAST_DF = 2  # with fewer, the variance is hardly known: intervals would be useless (t = 12.7) or wrong


@dataclass(frozen=True, slots=True)
class RunNoise:
    """The variance of the average of one run, from runs of one version, with its degrees of freedom.

    `variance` is in the square of the metric's unit.
    """

    variance: float
    df: int


def pool_variances(groups: Iterable[Sequence[Fraction]]) -> RunNoise | None:
    """Pool the variances of groups of averages; each group has the runs of one version.

    variance = sum over groups and runs of (m - mean of the group)^2, divided by df = sum of (runs - 1). Calibration
    runs are a group, and so are the runs of each compared version. None when df is less than 2.
    """
    squares, df = Fraction(0), 0
    for group in groups:
        if len(group) > 1:
            mean = sum(group, Fraction(0)) / len(group)
            squares += sum(((value - mean) ** 2 for value in group), Fraction(0))
            df += len(group) - 1
    return RunNoise(float(squares / df), df) if df >= LEAST_DF else None


def can_measure_noise(runs_of_versions: Sequence[int], calibration_runs: int) -> bool:
    """Return whether runs of one version are enough to show how much they differ."""
    return sum(max(0, runs - 1) for runs in (*runs_of_versions, calibration_runs)) >= LEAST_DF


def describe_noise(has_noise: bool, runs_of_versions: Sequence[int], calibration_runs: int) -> str:
    """Return the sentence of a report that says which noise its intervals hold."""
    if not has_noise:
        return (
            "Intervals hold what varies within these runs (batches of time, hosts)."
            " How much a run differs from the next is not known: there are too few repeats."
        )
    parts = [format_count(calibration_runs, "calibration run")] if calibration_runs else []
    if any(runs > 1 for runs in runs_of_versions):
        parts.append(f"{', '.join(map(str, runs_of_versions[:-1]))} and {runs_of_versions[-1]} runs")
    return f"Intervals hold what varies within runs and from run to run: {', '.join(parts)}."
