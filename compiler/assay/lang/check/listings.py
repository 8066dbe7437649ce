"""Check listings: their columns and metrics, which may be of grains whose rows belong to those of the listing."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lang import formula
from assay.lang.check.checker import Checker, Field
from assay.lang.check.choices import check_row_columns
from assay.lang.model.headings import Heading, list_column_headings, list_metric_headings
from assay.lang.model.package import Grain, Metric, Package
from assay.lang.model.report import Report, RowListing


def check_report_listings(checker: Checker, report: Report) -> None:
    """Check the listings of a report, and that their files have different names."""
    owner = f"report `{report.name}`"
    title_by_file: dict[str, str] = {}
    for listing in report.listings:
        check_listing(checker, owner, listing, (listing.title,))
        if listing.file_name in title_by_file:
            other_title = title_by_file[listing.file_name]
            checker.report(
                "duplicate-listing",
                f"the listings `{other_title}` and `{listing.title}` of {owner} have the same file name",
                listing.title,
                found=listing.file_name,
                hint="give them titles that differ in letters or digits",
                within=(report.name, Field("listings")),
            )
        title_by_file[listing.file_name] = listing.title


def check_listing(checker: Checker, owner: str, listing: RowListing, within: tuple[str, ...]) -> None:
    """Check the grain, the columns and the metrics of a listing."""
    grains = {grain.name: grain for grain in checker.package.grains}
    metrics = {metric.id: metric for metric in checker.package.metrics}
    grain = grains.get(listing.grain)
    finer = [
        name
        for name in listing.metrics
        if grain and name in metrics and metrics[name].grain in grains and _is_finer(grains, grain, metrics[name])
    ]
    own_metrics = tuple(name for name in listing.metrics if name not in finer)
    check_row_columns(checker, owner, listing.grain, listing.keys, own_metrics, within)
    if listing.most and listing.most not in listing.metrics:
        checker.report_unknown("metric", listing.most, f"in listing `{listing.title}` of {owner}", listing.metrics)


def list_listing_headings(package: Package, listing: RowListing) -> Iterator[Heading]:
    """Yield the headings of the columns of a listing."""
    yield from list_column_headings(package, listing.grain, listing.keys)
    yield from list_metric_headings(package, listing.metrics, "column")


def _is_finer(grains: dict[str, Grain], grain: Grain, metric: Metric) -> bool:
    """Return whether the rows of a metric's grain belong to those of another grain, whose key they have as columns.

    If the metric is reduced, it must have one value for each of these rows.
    """
    if formula.is_formula(metric) or metric.grain == grain.name:
        return False
    columns = {column.name: column.type for column in grains[metric.grain].columns}
    key_types = {column.name: column.type for column in grain.columns if column.name in grain.key}
    has_key = all(columns.get(name) == kind for name, kind in key_types.items())
    return has_key and (metric.reduction is None or set(metric.reduction.by) == set(grain.key))
