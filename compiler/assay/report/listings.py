"""Build the parts of a report with listings: tables of the rows of each run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from assay.lang.checked_package import CheckedPackage
from assay.lang.model.report import Report, RowListing
from assay.number_styles.registry import Style
from assay.plan.planner import request_rows
from assay.plan.request import RowRequest
from assay.report.blocks.listing import ListingTable, list_greatest
from assay.report.blocks.rows import find_grain, get_rows
from assay.report.document import Gallery, Table
from assay.report.run_results import RunFigures, label_runs

#: a report has no more rows of a listing: the others are only in files
MOST_ROWS = 5000

Files = Mapping[tuple[str, str], str]
"""Id of a run and name of a statement -> the Parquet file in the folder of the report."""


def list_listing_requests(checked: CheckedPackage, report: Report) -> tuple[RowRequest, ...]:
    """Return the rows of the listings of a report."""
    return tuple(request_listing_rows(checked, listing) for listing in report.listings)


def request_listing_rows(checked: CheckedPackage, listing: RowListing) -> RowRequest:
    """Return the rows of a listing of a report; they have the key of their grain, too."""
    grain = find_grain(checked, listing.grain)
    keys = tuple(dict.fromkeys((*listing.keys, *grain.key)))
    request = request_rows(checked.package, grain, keys, [checked.get_metric(name) for name in listing.metrics])
    return replace(request, are_points=True, listing=listing.file_name, rejected=listing.rejected)


def build_listing_galleries(
    checked: CheckedPackage, report: Report, number_style: Style, runs: Sequence[RunFigures], files: Files
) -> tuple[Gallery, ...]:
    """Return a part for each listing of a report, with a table for each run."""
    runs_by_label = dict(zip(label_runs(report, runs), runs, strict=True))
    return tuple(
        _build_gallery(checked, number, listing, number_style, runs_by_label, files)
        for number, listing in enumerate(report.listings, start=1)
    )


def _build_gallery(
    checked: CheckedPackage,
    number: int,
    listing: RowListing,
    number_style: Style,
    runs: Mapping[str, RunFigures],
    files: Files,
) -> Gallery:
    request = request_listing_rows(checked, listing)
    tables, notes = [], []
    for label, run in runs.items():
        rows = get_rows(run, request)
        builder = ListingTable(checked, number_style, listing, request, run.id)
        shortlist = list_greatest(rows, listing.most)
        if len(rows) > MOST_ROWS:
            printed = [rows[index] for index in shortlist or range(MOST_ROWS)]
            table = builder.build(label, printed)
        else:
            table = builder.build(label, rows, shortlist)
        tables += [table] if rows else []
        notes.append(f"{label}: {_count_rows(table, len(rows))}")
    text = _describe_rows(checked, listing, notes, [files[run.id, request.name] for run in runs.values()])
    return Gallery(f"listing-{number}", listing.title, tuple(text), (), tuple(tables))


def _count_rows(table: Table, count: int) -> str:
    """Say how many of the rows of a run a page prints."""
    printed = len(table.printed_rows)
    return str(count) if printed == count else f"{printed} of {count}"


def _describe_rows(
    checked: CheckedPackage, listing: RowListing, counts: Sequence[str], files: Sequence[str]
) -> Iterator[str]:
    """Yield which rows are printed, and the files with all rows."""
    most = checked.get_metric(listing.most).name if listing.most else ""
    greatest = f", those with the greatest {most}" if any(" of " in count for count in counts) else ""
    yield f"Rows: {', '.join(counts)}{greatest}."
    yield f"All rows are in files, as Parquet and as CSV (.csv instead of .parquet): {', '.join(files)}."
