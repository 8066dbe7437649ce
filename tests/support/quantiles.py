"""Estimate quantiles of pooled samples from cells."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from assay.judgement.batches import RunCells
from assay.judgement.interval import Reason
from assay.judgement.quantile_interval import Quantile, estimate_quantile, estimate_share_error


def estimate_pooled(share: Fraction, indicator: RunCells, value_at: Callable[[int], float]) -> Quantile | Reason:
    """Estimate a quantile; the cells of `indicator` count the samples that are at most the quantile."""
    count = sum(cell.count for cell in indicator.cells)
    return estimate_quantile(share, count, estimate_share_error(share, indicator), value_at)
