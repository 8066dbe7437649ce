"""Compare the distributions of a metric by the values of a column, such as hosts, within each run.

The groups of a run are ordered by their medians, then by their averages. Those whose medians lie far from the others
are outliers (`assay.judgement.outliers`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from assay.engine.results import HostRow, RunResults, scale
from assay.judgement.outliers import compute_fences
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.lang.model.vocabulary import Judgement
from assay.report.declared_margin import choose_margin
from assay.util.centiles import CENTILES

SHARES = ("0.05", "0.2", "0.5", "0.8", "0.95")
"""The quantiles of a group: ends of the wide and narrow ranges around the median."""
_PLACES = tuple(map(CENTILES.index, SHARES))
OUTLIERS = {1: "high", -1: "low"}


@dataclass(frozen=True, slots=True)
class Group:
    """The distribution of a metric for one value of the column, in the metric's unit.

    `quantiles` are those of `SHARES`; `side` is 1 if the median is an outlier above the others, -1 below, else 0.
    """

    name: str
    size: int
    average: float
    stddev: float
    least: float
    greatest: float
    quantiles: tuple[float, ...]
    side: int

    @property
    def median(self) -> float:
        """Return the median."""
        return self.quantiles[SHARES.index("0.5")]


@dataclass(frozen=True, slots=True)
class RunGroups:
    """The groups of a metric in a run, in ascending order of medians; where these are equal, of averages, then names.

    `median` is that of the medians, `reach` the difference from it above which a median is an outlier (None: there are
    too few groups). `unmeasured` are the values without samples, and those with samples that are not finite.
    """

    run: str
    label: str
    groups: tuple[Group, ...]
    median: float | None
    reach: float | None
    unmeasured: tuple[str, ...]

    @property
    def outliers(self) -> tuple[Group, ...]:
        """Return the groups that are outliers."""
        return tuple(group for group in self.groups if group.side)


Spreads = Mapping[str, tuple[RunGroups, ...]]
"""Metrics by their ids: their groups in each run."""


def collect_spreads(
    checked: CheckedPackage,
    metrics: Sequence[Metric],
    runs: Sequence[tuple[str, str, RunResults]],
    rules: Judgement | None,
) -> Spreads:
    """Return the groups of metrics in runs (id, label, results), without metrics that have samples in no run.

    `rules` are those of the report, with the margin of metrics that declare none.
    """
    spreads = {
        metric.id: tuple(
            _collect_groups(checked, metric, run, label, results.groups.get(metric.id, {}), rules)
            for run, label, results in runs
        )
        for metric in metrics
    }
    return {name: items for name, items in spreads.items() if any(item.groups for item in items)}


def _collect_groups(
    checked: CheckedPackage,
    metric: Metric,
    run: str,
    label: str,
    rows: Mapping[str, HostRow],
    rules: Judgement | None,
) -> RunGroups:
    measured = checked.measured[metric.id]
    finite = {name: row for name, row in rows.items() if row.size and all(map(math.isfinite, row.centiles))}
    unmeasured = tuple(sorted(rows.keys() - finite.keys()))
    if not finite:
        return RunGroups(run, label, (), None, None, unmeasured)
    middle = CENTILES.index("0.5")
    margin = choose_margin(checked, metric, rules)

    def convert(median: Fraction) -> Fraction:
        return Fraction(margin.convert_to_amount(float(median * measured.factor))) / measured.factor

    fences = compute_fences([row.centiles[middle] for row in finite.values()], measured.integral, convert)
    ordered = sorted(finite.items(), key=lambda item: (item[1].centiles[middle], item[1].mean, item[0]))
    factor = measured.factor
    return RunGroups(
        run,
        label,
        tuple(
            Group(
                name,
                row.size,
                scale(row.mean, factor),
                scale(row.stddev, factor),
                scale(row.centiles[0], factor),
                scale(row.centiles[-1], factor),
                tuple(scale(row.centiles[place], factor) for place in _PLACES),
                fences.classify(row.centiles[middle]),
            )
            for name, row in ordered
        ),
        float(fences.median * factor),
        None if fences.reach is None else float(fences.reach * factor),
        unmeasured,
    )


def build_groups_data(column: str, spreads: Spreads) -> dict[str, object]:
    """Return the groups of metrics as plain data, for `results.json`."""
    return {
        "column": column,
        "metrics": {name: {item.run: build_run_data(item) for item in spreads[name]} for name in sorted(spreads)},
    }


def build_run_data(item: RunGroups) -> dict[str, object]:
    """Return the groups of a metric in a run as plain data, in the metric's unit."""
    return {
        "median": item.median,
        "reach": item.reach,
        "absent": list(item.unmeasured),
        "groups": [build_group_data(group) for group in item.groups],
    }


def build_group_data(group: Group) -> dict[str, object]:
    """Return a group as plain data; `outlier` is `high`, `low`, or empty if the group is no outlier."""
    return {
        "name": group.name,
        "size": group.size,
        "average": group.average,
        "median": group.median,
        "stddev": group.stddev,
        "min": group.least,
        "max": group.greatest,
        "quantiles": [[float(share), value] for share, value in zip(SHARES, group.quantiles, strict=True)],
        "outlier": OUTLIERS.get(group.side, ""),
    }
