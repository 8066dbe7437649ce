"""Test plans: everything that a metric reads is computed, whatever else reads the same grain."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from decimal import Decimal

import pytest

from assay.app.check_and_query import standing_alone
from assay.engine.compiled_plan import compile_statements
from assay.engine.dry_run import dry_run
from assay.engine.graph import Node, nodes
from assay.engine.mount import by_number
from assay.lang.model.expression import Expression
from assay.lang.reserved_names import KEY
from assay.lineage.metric_lineage import lineage, root
from assay.lineage.row_provenance import add_provenance
from assay.plan.planner import AppliedFilter, plan
from assay.sql.distributions import samples
from assay.sql.expressions import places
from tests.support.laboratory import Laboratory


@pytest.mark.parametrize("metric", ["cdfPeerFetch", "cdfBlockSize", "CentiCpu", "cdf0.50"])
def test_metric_of_all_rows_of_filtered_grain_compiles(lab: Laboratory, metric: str) -> None:
    """A metric may count rows that filters reject, of a grain with a subject or its own filters."""
    checked = lab.session.package("cardano")
    package = checked.package
    of_all = dataclasses.replace(checked.metric(metric), accepted=False)
    every = [AppliedFilter(item, "1" if item.parameter else None) for item in package.filters]
    constants = [item for source in package.sources for item in source.constants]
    for applied in ([], every):
        statements = compile_statements(checked, plan(package, [of_all], applied))
        assert dry_run(nodes(statements), constants) == ()


def test_plans_share_immutable_statements(lab: Laboratory) -> None:
    """Compiled statements are shared, so their readers must not change them."""
    checked = lab.session.package("cardano")
    metrics = [checked.metric(name) for name in ("cdfPeerFetch", "cdfBlockSize", "CentiCpu", "cdf0.50")]
    constants = [item for source in checked.package.sources for item in source.constants]
    full_plan = plan(checked.package, metrics, ())
    statements = compile_statements(checked, full_plan)
    before = [item.query.sql() for item in statements]
    dry_run(nodes(statements), constants)
    lineage(statements, [root(statements, metric.id, "mean") for metric in metrics])
    for metric, item in zip(metrics, (item for item in statements if item.kind == "metric"), strict=True):
        standing_alone(checked, metric, None, statements)
        integral = checked.measured[metric.id].integral
        add_provenance(statements, samples(metric, integral, places(item.name for item in constants)), ["value"])
        by_number(item)
    assert [item.query.sql() for item in statements] == before
    tables = [item for item in statements if item.kind != "view" and not item.name.endswith(f" {KEY}")]
    assert all(item in compile_statements(checked, full_plan) for item in tables)


def test_equal_numbers_compile_as_they_are_written(lab: Laboratory) -> None:
    """An edited package gets the SQL that it would get alone."""
    checked = lab.session.package("cardano")
    metric = checked.metric("cdfForgerStart")
    for number in ("1.5", "1.50", "0.0", "-0.0"):
        edited = dataclasses.replace(metric, measure=Expression("real", number=Decimal(number)))
        statements = compile_statements(checked, plan(checked.package, [edited], ()))
        assert f"CAST({number} AS DOUBLE) AS value" in statements[-1].query.sql()


def test_cached_statement_runs_again_only_for_dependents(lab: Laboratory) -> None:
    checked = lab.session.package("cardano")
    constants = [item for source in checked.package.sources for item in source.constants]
    graph = nodes(compile_statements(checked, plan(checked.package, [checked.metric("cdfBlockSize")], ())))
    table = next(node for node in reversed(graph) if node.statement.kind == "table")

    def changed(text: str) -> list[Node]:
        return [dataclasses.replace(node, text=text) if node is table else node for node in graph]

    def failing(tried: Sequence[Node], passed: Sequence[Node]) -> list[str]:
        return [item.message.split("`")[1] for item in dry_run(tried, constants, passed)]

    broken, other = changed("SELECT * FROM nowhere"), changed(f"CREATE TABLE {table.name} AS SELECT 1 AS one")
    assert failing(broken, []) == failing(broken, graph) == [table.name]
    assert failing(broken, broken) == []
    assert failing(broken, [node for node in broken if node.name != "cdfBlockSize"]) == [table.name]
    assert failing(other, graph) == ["check block block-incomplete"]
