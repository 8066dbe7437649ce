"""Describe the rows of listings in `results.json`: their files, and the units of their columns."""

from __future__ import annotations

from collections.abc import Sequence

from assay.app.article_results import iter_column_units
from assay.app.compute import Computation
from assay.app.point_files import name_point_files
from assay.lang.checked_package import CheckedPackage
from assay.report.run_results import RunFigures


def build_listing_data(
    checked: CheckedPackage, computation: Computation, runs: Sequence[RunFigures]
) -> dict[str, object]:
    """Return the files of the rows of a report's listings, by run and statement, and the units of their columns.

    The result is empty without listings.
    """
    files, requests = name_point_files(computation), computation.compiled_plan.plan.row_requests
    if not requests:
        return {}
    units = {item.name: dict(iter_column_units(checked, item)) for item in requests}
    rows = {
        run.id: {name: {"file": files[run.id, name], "rows": len(run.results.rows[name])} for name in sorted(units)}
        for run in runs
    }
    return {"units": dict(sorted(units.items())), "rows": rows}
