"""Test plans: everything that a metric reads is computed, whatever else reads the same grain."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from decimal import Decimal

import pytest

from assay.app.check_and_query import build_metric_query
from assay.engine.compiled_plan import compile_statements
from assay.engine.dry_run import run_on_empty_tables
from assay.engine.graph import Node, build_nodes
from assay.engine.mount import build_host_view
from assay.lang.model.expression import Expression
from assay.lang.reserved_names import KEY
from assay.lang.scopes import HOST
from assay.lineage.metric_lineage import build_lineage, get_root
from assay.lineage.row_provenance import add_provenance
from assay.plan.planner import AppliedFilter, GrainRowsStep, build_plan
from assay.sql.distributions import select_samples
from assay.sql.expressions import build_placeholders
from tests.support.laboratory import Laboratory


@pytest.mark.parametrize("metric", ["cdfPeerFetch", "cdfBlockSize", "CentiCpu", "cdf0.50"])
def test_metric_of_all_rows_of_filtered_grain_compiles(lab: Laboratory, metric: str) -> None:
    """A metric may count rows that filters reject, of a grain with a subject or its own filters."""
    checked = lab.session.load_package("cardano")
    package = checked.package
    metric_of_all_rows = dataclasses.replace(checked.get_metric(metric), accepted=False)
    all_filters = [AppliedFilter(item, "1" if item.parameter else None) for item in package.filters]
    constants = [item for source in package.sources for item in source.constants]
    for applied_filters in ([], all_filters):
        statements = compile_statements(checked, build_plan(package, [metric_of_all_rows], applied_filters))
        assert run_on_empty_tables(build_nodes(statements), constants) == ()


@pytest.mark.parametrize(("hosts", "is_across"), [("node-*", True), ("", False)])
def test_instant_that_is_not_bound_by_host_is_across_hosts(lab: Laboratory, hosts: str, is_across: bool) -> None:
    """Log positions order the rows of one host only; a source without hosts has one."""
    checked = lab.session.load_package("cardano")
    sources = tuple(dataclasses.replace(source, hosts=hosts) for source in checked.package.sources)
    grain = next(grain for grain in checked.package.grains if grain.name == "observation")
    instants = tuple(
        dataclasses.replace(item, on=tuple(pair for pair in item.on if pair.field != HOST))
        if item.name == "adopted"
        else item
        for item in grain.instants
    )
    grains = tuple(
        dataclasses.replace(item, instants=instants) if item is grain else item for item in checked.package.grains
    )
    package = dataclasses.replace(checked.package, sources=sources, grains=grains)
    steps = build_plan(package, [checked.get_metric("cdfPeerAdoption")], ()).steps
    across = [step.across for step in steps if isinstance(step, GrainRowsStep) and step.grain.name == "observation"]
    assert across == [frozenset({"adopted"} if is_across else ())]


def test_plans_share_immutable_statements(lab: Laboratory) -> None:
    """Compiled statements are shared, so their readers must not change them."""
    checked = lab.session.load_package("cardano")
    metrics = [checked.get_metric(name) for name in ("cdfPeerFetch", "cdfBlockSize", "CentiCpu", "cdf0.50")]
    constants = [item for source in checked.package.sources for item in source.constants]
    full_plan = build_plan(checked.package, metrics, ())
    statements = compile_statements(checked, full_plan)
    before = [item.query.sql() for item in statements]
    run_on_empty_tables(build_nodes(statements), constants)
    build_lineage(statements, [get_root(statements, metric.id, "mean") for metric in metrics])
    for metric, item in zip(metrics, (item for item in statements if item.kind == "metric"), strict=True):
        build_metric_query(checked, metric, None, statements)
        integral = checked.measured[metric.id].integral
        add_provenance(
            statements, select_samples(metric, integral, build_placeholders(item.name for item in constants)), ["value"]
        )
        build_host_view(item)
    assert [item.query.sql() for item in statements] == before
    tables = [item for item in statements if item.kind != "view" and not item.name.endswith(f" {KEY}")]
    assert all(item in compile_statements(checked, full_plan) for item in tables)


def test_equal_numbers_compile_as_they_are_written(lab: Laboratory) -> None:
    """An edited package gets the SQL that it would get alone."""
    checked = lab.session.load_package("cardano")
    metric = checked.get_metric("cdfForgerStart")
    for number in ("1.5", "1.50", "0.0", "-0.0"):
        edited_metric = dataclasses.replace(metric, measure=Expression("real", number=Decimal(number)))
        statements = compile_statements(checked, build_plan(checked.package, [edited_metric], ()))
        assert f"CAST({number} AS DOUBLE) AS value" in statements[-1].query.sql()


def test_cached_statement_runs_again_only_for_dependents(lab: Laboratory) -> None:
    checked = lab.session.load_package("cardano")
    constants = [item for source in checked.package.sources for item in source.constants]
    graph = build_nodes(
        compile_statements(checked, build_plan(checked.package, [checked.get_metric("cdfBlockSize")], ()))
    )
    table = next(node for node in reversed(graph) if node.statement.kind == "table")

    def change_text(text: str) -> list[Node]:
        return [dataclasses.replace(node, text=text) if node is table else node for node in graph]

    def list_failing(all_nodes: Sequence[Node], passed_nodes: Sequence[Node]) -> list[str]:
        return [item.message.split("`")[1] for item in run_on_empty_tables(all_nodes, constants, passed_nodes)]

    broken_graph, other = (
        change_text("SELECT * FROM nowhere"),
        change_text(f"CREATE TABLE {table.name} AS SELECT 1 AS one"),
    )
    assert list_failing(broken_graph, []) == list_failing(broken_graph, graph) == [table.name]
    assert list_failing(broken_graph, broken_graph) == []
    assert list_failing(broken_graph, [node for node in broken_graph if node.name != "cdfBlockSize"]) == [table.name]
    assert list_failing(other, graph) == ["check block block-incomplete"]
