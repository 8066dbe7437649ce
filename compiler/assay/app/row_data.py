"""Describe the rows of listings and timelines in `results.json`: their files, and the units of their columns."""

from __future__ import annotations

from collections.abc import Sequence

from assay.app.article_results import collect_units
from assay.app.compute import Computation
from assay.app.point_files import name_point_files
from assay.lang.checked_package import CheckedPackage
from assay.report.run_results import RunFigures


def build_listing_data(
    checked: CheckedPackage, computation: Computation, runs: Sequence[RunFigures]
) -> dict[str, object]:
    """Return the files of a report's listings and timelines, by run and statement, and the units of their columns.

    The result is empty without any.
    """
    files, plan = name_point_files(computation), computation.compiled_plan.plan
    if not plan.row_requests and not plan.series:
        return {}
    units = {name: units for name, units in collect_units(checked, plan).items() if name in plan.point_names}
    rows = {
        run.id: {name: {"file": files[run.id, name], "rows": len(run.results.rows[name])} for name in sorted(units)}
        for run in runs
    }
    return {"units": dict(sorted(units.items())), "rows": rows}
