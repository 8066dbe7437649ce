"""Define the names of the columns that show more of a distribution than its average."""

from __future__ import annotations

from decimal import Decimal

from assay.util.centiles import CENTILES
from assay.util.diagnostics import suggest_nearest

MEDIAN, LEAST, GREATEST, DEVIATION = "median", "min", "max", "stddev"
MEAN, COUNT = "mean", "count"
PERCENTILES = {f"p{(100 * Decimal(text)).normalize():f}": float(text) for text in CENTILES[1:-1]}
"""Names of percentiles and their centiles: `p95` is 0.95."""
STATISTICS = (MEAN, MEDIAN, LEAST, GREATEST, DEVIATION, COUNT, *PERCENTILES)
"""The names of all columns."""
EXPECTED = "mean, median, min, max, stddev, count, or a percentile: p1, p5, p10, p20 … p90, p95, p99, p99.9"


def split_names(text: str) -> tuple[str, ...]:
    """Return the column names in a text with commas, without blanks, once each."""
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def suggest_column(name: str) -> str:
    """Return a hint for an unknown column."""
    return suggest_nearest(name, STATISTICS) or f"percentiles are {', '.join(PERCENTILES)}"
