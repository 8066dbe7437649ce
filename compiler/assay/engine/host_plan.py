"""Decide which statements of a plan can be computed for some hosts at a time, and why the others cannot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from assay.engine.graph import Node
from assay.lang.checked_package import CheckedPackage
from assay.lang.scopes import HOST
from assay.plan.planner import name_cells_statement
from assay.sql.distributions import get_domain
from assay.sql.partitioning import can_check_partitions, is_partitionable, is_partitionable_in_order
from assay.sql.staged_cells import StagedCells, stage_cells


@dataclass(frozen=True, slots=True)
class HostPlan:
    """The `names` of statements that can be computed for some hosts at a time, and `reasons` why others cannot.

    `staged` has the stages of statements for cells, which can be so computed if times of all hosts are known.
    """

    names: frozenset[str]
    reasons: Mapping[str, str]
    staged: Mapping[str, StagedCells] = field(default_factory=dict)


def plan_hosts(graph: Sequence[Node], checked: CheckedPackage) -> HostPlan:
    """Return which statements can be computed for some hosts at a time, together with all their inputs."""
    reasons: dict[str, str] = {}
    names: set[str] = set()
    for node in graph:
        if reason := _find_reason(node, checked, names):
            reasons[node.name] = reason
        else:
            names.add(node.name)
    return HostPlan(frozenset(names), reasons, _stage_all_cells(graph, checked, names))


def _stage_all_cells(graph: Sequence[Node], checked: CheckedPackage, names: set[str]) -> dict[str, StagedCells]:
    """Return the stages of the statements for cells of hosts whose tables need some hosts at a time."""
    cells_of_hosts = {name_cells_statement(metric) for metric in checked.package.metrics if metric.per == HOST}
    staged: dict[str, StagedCells] = {}
    for node in graph:
        if node.name in cells_of_hosts and names.issuperset(node.reads):
            assert isinstance(node.statement.query, exp.Select)
            stages = stage_cells(node.statement.query, node.name)
            staged |= {node.name: stages} if stages else {}
    return staged


def _find_reason(node: Node, checked: CheckedPackage, names: set[str]) -> str:
    """Return why a statement needs all hosts; empty if it does not. `names` are statements before it that do not."""
    kind = node.statement.kind
    if kind == "view":
        query = node.statement.query
        has_host = isinstance(query, exp.Select) and HOST in query.named_selects
        return "" if has_host else "its records have no host"
    if pooled := [name for name in node.reads if name not in names]:
        return f"it reads `{pooled[0]}`, which needs all hosts"
    if kind == "table":
        return "" if is_partitionable(node.statement.query, HOST) else "its SQL may relate rows of several hosts"
    if kind == "check":
        return "" if can_check_partitions(node.statement.query, HOST) else "its SQL may relate rows of several hosts"
    if kind in ("rows", "count"):
        return "" if is_partitionable_in_order(node.statement.query, HOST) else "its rows are of all hosts"
    metric = checked.get_metric(node.name)
    if metric.per != HOST:
        return "its distribution is over all hosts"
    grain = next(item for item in checked.package.grains if item.name == metric.grain)
    return "" if get_domain(grain) in node.reads else "its hosts are not those of its rows"
