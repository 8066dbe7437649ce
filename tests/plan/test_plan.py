"""Test plans: everything that a metric reads is computed, whatever else reads the same grain."""

from __future__ import annotations

import dataclasses
from contextlib import AbstractContextManager, nullcontext
from decimal import Decimal

import pytest

from assay.app.compute.metric_sql import build_metric_query
from assay.engine import dry_run as dry_run_module
from assay.engine.compiled_plan import compile_statements
from assay.engine.connection import Limits
from assay.engine.dry_run import DryRun, run_on_empty_tables
from assay.engine.graph import build_nodes
from assay.engine.mount import build_host_view
from assay.lang.model.expression import Expression
from assay.lang.reserved_names import KEY
from assay.lang.scopes import HOST
from assay.lineage.metric_lineage import build_lineage, get_root
from assay.lineage.row_provenance import add_provenance
from assay.plan.planner import AppliedFilter, GrainRowsStep, build_plan
from assay.plan.request import Request
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
        statements = compile_statements(checked, build_plan(package, Request((metric_of_all_rows,)), applied_filters))
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
    steps = build_plan(package, Request((checked.get_metric("cdfPeerAdoption"),))).steps
    across = [step.across for step in steps if isinstance(step, GrainRowsStep) and step.grain.name == "observation"]
    assert across == [frozenset({"adopted"} if is_across else ())]


def test_plans_share_immutable_statements(lab: Laboratory) -> None:
    """Compiled statements are shared, so their readers must not change them."""
    checked = lab.session.load_package("cardano")
    metrics = [checked.get_metric(name) for name in ("cdfPeerFetch", "cdfBlockSize", "CentiCpu", "cdf0.50")]
    constants = [item for source in checked.package.sources for item in source.constants]
    full_plan = build_plan(checked.package, Request(tuple(metrics)))
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
        statements = compile_statements(checked, build_plan(checked.package, Request((edited_metric,))))
        assert f"CAST({number} AS DOUBLE) AS value" in statements[-1].query.sql()


def test_next_plan_runs_changed_statements_and_their_readers(lab: Laboratory, monkeypatch: pytest.MonkeyPatch) -> None:
    checked = lab.session.load_package("cardano")
    constants = [item for source in checked.package.sources for item in source.constants]
    graph = build_nodes(
        compile_statements(checked, build_plan(checked.package, Request((checked.get_metric("cdfBlockSize"),))))
    )
    table = next(node for node in reversed(graph) if node.statement.kind == "table")
    subjects: list[str] = []

    def apply_limits(_connection: object, limits: Limits) -> AbstractContextManager[None]:
        subjects.append(limits.subject.split("`")[1])
        return nullcontext()

    def run_after_graph(text: str) -> tuple[list[str], list[str]]:
        """Return the statements that run, and those with problems, if the text of the table differs."""
        with DryRun(constants) as dry_run:
            assert dry_run.run(graph) == ()
            subjects.clear()
            problems = dry_run.run([dataclasses.replace(node, text=text) if node is table else node for node in graph])
        return list(dict.fromkeys(subjects)), [item.message.split("`")[1] for item in problems]

    monkeypatch.setattr(dry_run_module, "apply_limits", apply_limits)
    readers = [node.name for node in graph if table.name in node.reads]
    assert len(readers) > 1
    assert run_after_graph(table.text) == ([], [])
    assert run_after_graph(f"{table.text} LIMIT 1") == ([table.name], [])
    assert run_after_graph("SELECT * FROM nowhere") == ([table.name], [table.name])
    assert run_after_graph(f"CREATE TABLE {table.name} AS SELECT 1 AS one") == ([table.name, readers[0]], readers[:1])
    more_columns = table.text.replace(" AS\n", " AS SELECT *, 1 AS more FROM (\n", 1) + ")"
    assert run_after_graph(more_columns) == ([table.name, *readers], [])


def test_table_that_the_next_plan_lacks_is_gone(lab: Laboratory) -> None:
    checked = lab.session.load_package("cardano")
    constants = [item for source in checked.package.sources for item in source.constants]
    graph = build_nodes(
        compile_statements(checked, build_plan(checked.package, Request((checked.get_metric("cdfBlockSize"),))))
    )
    table = next(node for node in reversed(graph) if node.statement.kind == "table")
    reader = next(node for node in graph if table.name in node.reads)
    other = dataclasses.replace(reader, text=f"{reader.text} -- other")
    with DryRun(constants) as dry_run:
        assert dry_run.run(graph) == ()
        problems = dry_run.run([other if node is reader else node for node in graph if node is not table])
    assert [item.message.split(": ")[1] for item in problems] == ["Catalog Error"]


@pytest.mark.parametrize("system", ["antelope", "cardano", "cometbft"])
def test_statement_that_runs_alone_yields_the_same_columns(lab: Laboratory, system: str) -> None:
    """Tables of remembered statements are created from their columns, or by their statements if these yield rows."""
    checked = lab.session.load_package(system)
    package = checked.package
    request = Request(package.metrics, tuple(item.name for item in package.relations))
    graph = build_nodes(compile_statements(checked, build_plan(package, request)))
    constants = [item for source in package.sources for item in source.constants]
    with DryRun(constants) as dry_run:
        assert dry_run.run(graph) == ()
    for key in [*dry_run.passed][::25]:
        with DryRun(constants, {name: item for name, item in dry_run.passed.items() if name != key}) as again:
            assert again.run(graph) == ()
        assert again.passed == dry_run.passed
