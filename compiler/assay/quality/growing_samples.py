"""Find metrics whose samples only grow: the average of a counter says how long a run is, and nothing else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from assay.lang.model.package import Metric, Package
from assay.lang.number_kinds import list_levels, reads_one_of
from assay.lang.quantities import SIZE, unwrap_measure
from assay.plan.planner import GrainRowsStep, Plan
from assay.quality.assess import Counts
from assay.quality.finding import GROWING, Finding, format_metric_list
from assay.sql import growth
from assay.sql.codegen import Statement
from assay.util.numbers import format_count

LEAST_STEPS = 19  # from sample to sample, on average of the series
LEAST_RISES = 0.5  # share of the steps
RISES_PER_RESTART = 30

_STATEMENT = "growth "  # beginning of the names of statements


def build_growth_counts(
    package: Package, plan: Plan, metrics: Sequence[Metric], constants: Mapping[str, object]
) -> Iterator[Statement]:
    """Yield the statements that count how the samples of metrics grow: those of a field that is no level."""
    levels = list_levels(package.events)
    steps = {step.grain.name: step for step in plan.steps if isinstance(step, GrainRowsStep) and not step.grain.runs}
    fields: dict[str, list[Metric]] = {}
    for metric in metrics:
        is_column = unwrap_measure(metric.measure).op == "column"
        if not metric.reduction and is_column and not reads_one_of(metric, levels):
            fields.setdefault(metric.grain, []).append(metric)
    for name, members in fields.items():
        step = steps.get(name)
        if step and (query := growth.count_steps(members, step.grain, step.members, constants)):
            yield Statement("count", f"{_STATEMENT}{name}", query)


def find_growing_samples(
    metrics: Sequence[Metric], counts: Counts, quantities: Mapping[str, str]
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Return the findings on metrics whose samples only grow, and notes on those that may be levels.

    A size may be a level, and so may be what never starts again.
    """
    groups: dict[tuple[bool, int, int], list[str]] = defaultdict(list)
    rows_by_metric = {
        row["metric"]: row for name, rows in counts.items() if name.startswith(_STATEMENT) for row in rows
    }
    for metric in metrics:
        if row := rows_by_metric.get(metric.id):
            steps, rises, falls, partial, series, jumps = (int(str(row[name] or 0)) for name in growth.COUNTED)
            only_restarts = not partial and not jumps and falls * RISES_PER_RESTART <= rises
            grows = (not falls or only_restarts) and rises >= LEAST_RISES * steps
            if grows and steps >= LEAST_STEPS * max(series, 1):
                may_be_level = not falls or quantities.get(metric.id) == SIZE
                groups[may_be_level, steps + series, falls].append(metric.id)
    findings: list[Finding] = []
    notes: list[Finding] = []
    for (may_be_level, size, restarts), ids in groups.items():
        until = f", apart from {format_count(restarts, 'restart')}" if restarts else ""
        cause = (
            "if they count since a start, only their increases mean something"
            if may_be_level
            else "they count since a start, so only their increases mean something"
        )
        message = f"all {size} samples of a host only grow{until}{format_metric_list(ids)}: {cause}."
        (notes if may_be_level else findings).append(Finding(GROWING, message, tuple(ids), affected=size, total=size))
    return tuple(findings), tuple(notes)
