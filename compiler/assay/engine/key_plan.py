"""Decide which statements of a plan can be computed by another key than the host, after those of hosts are stored.

The tables of a run are shuffled: what portions of hosts have stored is read again by portions of the key's values.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from assay.engine.graph import Node
from assay.engine.host_plan import HostPlan
from assay.lang import scopes
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Package
from assay.lang.reserved_names import get_rows_name
from assay.lang.scopes import HOST
from assay.sql.partitioning import can_check_partitions, is_partitionable


@dataclass(frozen=True, slots=True)
class KeyPlan:
    """The `names` of tables and checks that can be computed for some values of the column `key` at a time.

    `first` are the tables that they read and that are computed before, for the whole run.
    """

    key: str
    names: frozenset[str]
    first: frozenset[str]


def plan_key(graph: Sequence[Node], checked: CheckedPackage, host_plan: HostPlan) -> KeyPlan | None:
    """Return the plan of the key, among those of all relations and grains, by which most tables can be computed."""
    package = checked.package
    all_keys = [*(item.key for item in package.relations), *(item.key for item in package.grains)]
    keys = sorted({column for key in all_keys for column in key} - {HOST})
    columns = _list_columns(package, [node.name for node in graph])
    tables = {node.name for node in graph if node.statement.kind == "table"}
    plans = [_plan_one_key(graph, key, {name for name in columns if key in columns[name]}, host_plan) for key in keys]
    best = max(plans, key=lambda plan: len(plan.names & tables), default=None)
    return best if best and best.names & tables else None


def _list_columns(package: Package, names: Collection[str]) -> dict[str, Collection[str]]:
    """Return the columns of tables, as far as they are declared."""
    grains = {get_rows_name(grain.name): grain.name for grain in package.grains}
    return {name: scopes.list_row_columns(package, grains.get(name, name)) or () for name in names}


def _plan_one_key(graph: Sequence[Node], key: str, with_key: Collection[str], host_plan: HostPlan) -> KeyPlan:
    """Return the plan of a key; `with_key` are the tables that have it."""
    names: set[str] = set()
    dependents: set[str] = set()  # statements that read one of `names`, or one of these
    first: set[str] = set()
    for node in graph:
        kind = node.statement.kind
        if node.name in host_plan.names or kind == "view":
            continue
        if dependents.union(names).intersection(node.reads):
            dependents.add(node.name)
        can_be_cut = {"table": is_partitionable, "check": can_check_partitions}.get(kind)
        if can_be_cut is None or node.reads_logs or not set(node.reads) <= set(with_key) - (dependents - names):
            continue
        if can_be_cut(node.statement.query, key):
            names.add(node.name)
            first.update(item for item in node.reads if item not in names)
    whole = {node.name for node in graph if node.statement.kind == "table"} - host_plan.names
    return KeyPlan(key, frozenset(names), frozenset(first & whole))
