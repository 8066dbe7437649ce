"""Find centiles that lie above the greatest bound of their histogram, so that only a lower bound of them is known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from assay.lang.model.package import HISTOGRAMS, Metric
from assay.quality.assess import Counts
from assay.quality.finding import ABOVE_BOUNDS, Finding, format_metric_list
from assay.sql import histograms
from assay.sql.codegen import Statement

_STATEMENT = "histogram "  # beginning of the names of statements


def build_bound_counts(metrics: Iterable[Metric], constants: Mapping[str, object]) -> Iterator[Statement]:
    """Yield the statements that count the groups of centiles of histograms."""
    for metric in metrics:
        if metric.reduction and metric.reduction.kind in HISTOGRAMS:
            query = histograms.count_groups_above(metric, constants)
            yield Statement("count", f"{_STATEMENT}{metric.id}", query)


def find_samples_above_bounds(metrics: Sequence[Metric], counts: Counts) -> Iterator[Finding]:
    """Yield the findings on metrics with centiles of which only a lower bound is known: they are not judged."""
    groups: dict[tuple[int, int], list[str]] = defaultdict(list)
    for metric in metrics:
        for row in counts.get(f"{_STATEMENT}{metric.id}", ()):
            above, size = (int(str(row[name] or 0)) for name in (histograms.ABOVE, histograms.GROUPS))
            if above:
                groups[above, size].append(metric.id)
    for (above, size), ids in groups.items():
        verb = "lies" if above == 1 else "lie"
        message = (
            f"{above} of {size} percentiles {verb} above the greatest bound of the histogram"
            f"{format_metric_list(ids)}: they have this bound instead, and may be any amount greater."
        )
        yield Finding(ABOVE_BOUNDS, message, tuple(ids), affected=above, total=size)
