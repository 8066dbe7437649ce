"""Find metrics whose samples become a thousandfold at some time of the run: the unit may have changed."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assay.lang.model.package import Metric
from assay.quality.finding import UNLIKE, Finding, format_metric_list

#: parts of the run on either side of the step, and the factor by which averages of one side differ at most
LEAST_PARTS, MOST_SPREAD = 3, 10.0
#: the factor by which the step may differ from a power of 1000
TOLERANCE = 1.5

Cells = Mapping[str, Sequence[Mapping[str, Any]]]
"""The sums of samples by place in time (`place`, `total`, `size`) of metrics by their ids."""


def find_unit_steps(cells: Cells, metrics: Sequence[Metric]) -> tuple[Finding, ...]:
    """Return the findings on metrics of a run whose samples are a power of 1000 times as large from some time on."""
    groups: dict[tuple[int, int], list[str]] = defaultdict(list)
    for metric in metrics:
        logs = _list_averages(cells.get(metric.id, ()))
        power, share = _find_step(logs)
        if power:
            groups[power, share].append(metric.id)
    return tuple(_create_findings(groups))


def _create_findings(groups: Mapping[tuple[int, int], Sequence[str]]) -> Iterator[Finding]:
    for (power, share), ids in groups.items():
        size = f"{1000 ** abs(power)} times as {'large' if power > 0 else 'small'}"
        problem = f"after {share} % of the run, the samples are {size} as before: the unit may have changed"
        yield Finding(UNLIKE, f"{problem}{format_metric_list(ids)}.", tuple(ids))


def _list_averages(rows: Sequence[Mapping[str, Any]]) -> list[float]:
    """Return the logarithms of the averages of the parts of a run in order; empty if one is not above 0."""
    sums: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0])
    for row in rows:
        sums[int(row["place"])][0] += int(row["total"])
        sums[int(row["place"])][1] += int(row["size"])
    averages = [total / size for _, (total, size) in sorted(sums.items()) if size]
    return [math.log(item) for item in averages] if all(item > 0 for item in averages) else []


def _find_step(logs: Sequence[float]) -> tuple[int, int]:
    """Return the power of 1000 of the greatest step, and where it is in percent of the parts; 0 without such a step.

    A part may have samples of both units.
    """
    for width in (0, 1):
        steps = {
            end: logs[end + width] - logs[end - 1] for end in range(LEAST_PARTS, len(logs) - width - LEAST_PARTS + 1)
        }
        if not steps:
            return 0, 0
        end = max(steps, key=lambda item: abs(steps[item]))
        before, after = sorted(logs[:end]), sorted(logs[end + width :])
        difference = after[len(after) // 2] - before[len(before) // 2]
        power = round(difference / math.log(1000))
        is_even = all(side[-1] - side[0] < math.log(MOST_SPREAD) for side in (before, after))
        if power and is_even and abs(difference - power * math.log(1000)) < math.log(TOLERANCE):
            return power, round(100 * end / len(logs))
    return 0, 0
