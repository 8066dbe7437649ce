"""Draw series of values over time, as a run without clusters has them, and their batch cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

from assay.judgement.batches import RunCells
from tests.support.simulated_metrics import rank_cells

SCALE = 10**6
LEVEL = 20.0  # so that averages are far from 0


def draw_series(random: Random, length: int, correlation: float) -> list[float]:
    """Draw values of mean 0 and variance 1, each correlated with the one before it."""
    value = random.gauss(0, 1)
    series = [value]
    for _ in range(length - 1):
        value = correlation * value + math.sqrt(1 - correlation**2) * random.gauss(0, 1)
        series.append(value)
    return series


def series_cells(series: Sequence[float], level: float = LEVEL) -> RunCells:
    """Return the cells of a series, moved to a level."""
    return rank_cells(((time, "", round((level + value) * SCALE)) for time, value in enumerate(series)), SCALE)
