"""Read the quantiles of a metric in a run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from assay.engine.results import RunResults, scale
from assay.judgement.shift import RunQuantiles
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric


def read_quantiles(checked: CheckedPackage, metric: Metric, results: RunResults) -> RunQuantiles | None:
    """Read the quantiles of a metric in a run; None without samples, times, or finite samples."""
    rows: Sequence[Mapping[str, Any]] = results.quantiles.get(metric.id, ())
    if not rows or not rows[0]["units"] or not all(map(math.isfinite, rows[0]["steps"])):
        return None
    factor = Fraction(checked.measured[metric.id].factor)
    return RunQuantiles(
        tuple(scale(item, factor) for item in rows[0]["quantiles"]),
        tuple(scale(item, factor) for item in rows[0]["steps"]),
        tuple((row["place"], row["size"], tuple(row["below"])) for row in rows),
        rows[0]["units"],
    )
