"""Choose the metrics that are shown by the values of a column: `--by host`."""

from __future__ import annotations

from collections.abc import Sequence

from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import is_formula
from assay.lang.model.package import Metric
from assay.lang.segments import find_field_to_take, list_dimensions
from assay.lang.workspace import Workspace, get_positions
from assay.plan.planner import group_metric
from assay.util.diagnostics import USAGE, fail, suggest_names

_NO_VALUE = "formulas and combined samples belong to no single value"


def group_metrics(
    checked: CheckedPackage, metrics: Sequence[Metric], column: str, workspace: Workspace | None = None
) -> tuple[Metric, ...]:
    """Return those of some metrics that have samples by a column, with a distribution for each of its values.

    Empty without a column. Raises AssayError (usage) if no metric has samples by it; at the grain in the specs of the
    workspace that lacks it as a dimension, if there is one.
    """
    if not column:
        return ()
    grouped = [group_metric(checked.package, metric, column) for metric in metrics]
    grouped_metrics = tuple(metric for metric in grouped if metric)
    if grouped_metrics:
        return grouped_metrics
    columns = _list_columns(checked, metrics)
    names = {metric.grain for metric in metrics}
    grains = [grain for grain in checked.package.grains if grain.name in names]
    hints = [(hint, grain) for grain in grains if (hint := find_field_to_take(checked.package, grain, column))]
    hint, span, excerpt = suggest_columns(column, columns, checked.package.system) if columns else _NO_VALUE, None, ""
    if hints:
        hint, grain = hints[0]
        if workspace:
            positions = get_positions(workspace, checked.package.system)
            span, excerpt = positions(grain.relation, within=(grain.name,))
    raise fail(
        "no-column",
        f"none of the metrics has a distribution for each `{column}`",
        span=span,
        excerpt=excerpt,
        expected=", ".join(columns),
        hint=hint,
        status=USAGE,
    )


def suggest_columns(name: str, columns: Sequence[str], system: str) -> str:
    """Return the hint of an error about a column of `--by`: similar names, and the command that lists all."""
    similar = suggest_names(name, columns)
    gap = " " if similar.endswith("?") else "; " if similar else ""
    return f"{similar}{gap}`assay list columns --system {system}` lists all"


def _list_columns(checked: CheckedPackage, metrics: Sequence[Metric]) -> tuple[str, ...]:
    """Return the columns by which some metric has a distribution, and its dimensions, in alphabetical order."""
    names = {metric.grain for metric in metrics if not is_formula(metric)}
    grains = (grain for grain in checked.package.grains if grain.name in names)
    columns = {column.name for grain in grains for column in grain.columns}
    texts = {name for name in columns if any(group_metric(checked.package, metric, name) for metric in metrics)}
    dimensions = {name for metric in metrics for name in list_dimensions(checked.package, metric)}
    return tuple(sorted(texts | dimensions))
