"""Test lineage on random and shipped specs: a number depends on exactly the named columns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pydot
import pytest
import sqlglot
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.app.audit.lineage import LineageResult, find_lineage, trace_subject
from assay.app.compute.subject import MetricSubject
from assay.app.session.selection import Selection
from assay.engine.compiled_plan import compile_statements
from assay.engine.dry_run import run_on_empty_tables
from assay.engine.graph import build_nodes
from assay.lang import definition_hash, dependencies
from assay.lang.check import check
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Event, Field, Metric, Package
from assay.lang.resolve import resolve_package
from assay.lineage.column_lineage import ROWS, Origin, qualify_columns, trace_columns
from assay.lineage.graph import to_dot
from assay.lineage.metric_lineage import Lineage, build_lineage, get_root
from assay.plan.planner import AppliedFilter, build_plan
from assay.plan.request import Request
from assay.sql import dialect
from assay.sql.codegen import Statement, build_create_sql
from tests.support.commands import run_assay
from tests.support.laboratory import Laboratory
from tests.support.random_specs import generate_package
from tests.support.sql_cases import SqlCase, read_cases
from tests.support.workspaces import NO_POSITIONS, copy_workspace

CASES = Path(__file__).parent / "cases"
SEEDS = st.integers(0, 2**32)
FEW = settings(derandomize=True, deadline=None, max_examples=8, suppress_health_check=list(HealthCheck))


def create_checked_package(seed: int) -> CheckedPackage:
    """Create a random package and check it."""
    package = generate_package(seed)
    assert [item.message for item in check.check_package(package, NO_POSITIONS)] == []
    return resolve_package(package, "")


def compile_metric(checked: CheckedPackage, metric: Metric) -> tuple[Statement, ...]:
    """Return the statements of a metric under all filters."""
    all_filters = [AppliedFilter(item, None) for item in checked.package.filters]
    return compile_statements(checked, build_plan(checked.package, Request((metric,)), all_filters))


def trace_lineage(checked: CheckedPackage, metric: Metric) -> Lineage:
    """Return the lineage of a metric under all filters."""
    statements = compile_metric(checked, metric)
    return build_lineage(statements, [get_root(statements, metric.id, "mean")])


def list_fields(events: Mapping[str, Any]) -> set[tuple[str, str]]:
    """Return the pairs of event and field."""
    return {(event, field) for event, fields in events.items() for field in fields}


def move_field(package: Package, event: str, field: str) -> Package:
    """Return the package with a field of an event read from another path."""

    def replace_paths(item: Field) -> Field:
        return replace(item, paths=(("elsewhere",),)) if item.name == field else item

    def replace_forms(item: Event) -> Event:
        forms = tuple(replace(form, fields=tuple(map(replace_paths, form.fields))) for form in item.forms)
        return replace(item, forms=forms) if item.name == event else item

    return replace(package, events=tuple(map(replace_forms, package.events)))


@given(seed=SEEDS)
@FEW
def test_only_fields_of_the_lineage_change_the_definition_hash(seed: int) -> None:
    checked = create_checked_package(seed)
    statements = compile_statements(checked, build_plan(checked.package, Request(checked.package.metrics)))
    assert run_on_empty_tables(build_nodes(statements), ()) == ()
    all_fields = {(event.name, field.name) for event in checked.package.events for field in event.fields}
    fields_by_metric = {
        metric.id: list_fields(trace_lineage(checked, metric).events) for metric in checked.package.metrics
    }
    for metric in checked.package.metrics:
        needs = dependencies.collect_dependencies(checked.package, [metric], checked.package.filters)
        assert fields_by_metric[metric.id] == list_fields(needs.events)
    before = definition_hash.hash_definitions(checked.package)
    for event, field in sorted(all_fields):
        after = definition_hash.hash_definitions(move_field(checked.package, event, field))
        for metric in checked.package.metrics:
            assert (after[metric.id] != before[metric.id]) == ((event, field) in fields_by_metric[metric.id]), (
                event,
                field,
            )


@pytest.mark.parametrize("seed", range(6))
def test_fields_of_filters_are_listed_separately(seed: int) -> None:
    checked = create_checked_package(seed)
    for metric in checked.package.metrics:
        subject = MetricSubject(checked, metric)
        unfiltered_trace = trace_subject(subject, (), subject.compile(()))
        assert list_named_fields(unfiltered_trace) == list_fields(trace_lineage(checked, metric).events)
        assert not {(event, field) for event, field, _ in unfiltered_trace.filterable} & list_fields(
            unfiltered_trace.column_lineage.events
        )


def list_named_fields(traced_metric: LineageResult) -> set[tuple[str, str]]:
    """Return the fields that either part of a lineage names."""
    return list_fields(traced_metric.column_lineage.events) | {
        (event, field) for event, field, _ in traced_metric.filterable
    }


@pytest.mark.parametrize("system", ["antelope", "cardano", "cometbft"])
def test_lineage_names_all_fields_of_the_definition_hash(lab: Laboratory, system: str) -> None:
    package = lab.session.load_package(system).package
    extra_count = 0
    for metric in package.metrics:
        traced_metric = find_lineage(lab.session, metric.id, Selection(system=system))
        assert list_named_fields(traced_metric) == list_fields(
            dependencies.collect_dependencies(package, [metric], package.filters).events
        ), metric.id
        extra_count += bool(traced_metric.filterable)
    assert (extra_count > 40) == (system == "cardano")
    for report in package.reports_over_runs:
        traced_metric = find_lineage(lab.session, f"{system}/{report.name}")
        expected_events = dependencies.collect_dependencies(package, traced_metric.metrics, package.filters).events
        assert list_fields(expected_events) <= list_named_fields(traced_metric) | list_fields(
            dependencies.collect_dependencies(package, traced_metric.metrics, ()).events
        )


def test_columns_of_filters_are_a_separate_part(lab: Laboratory, cache: Path) -> None:
    expected_field = {"event": "fetch_requested", "field": "length", "places": [".data.length"]}
    data = run_assay("lineage", "cdfForgerTicked", "--format", "json", "--cache", cache).parse_json()
    switched_field = {"event": "fork_switched", "field": "block", "places": [".data.newtip"]}
    assert data["filterable"] == [expected_field, switched_field]
    assert ("fetch_requested", "length") not in {(item["event"], item["field"]) for item in data["fields"]}
    package = lab.session.load_package("cardano").package
    before = definition_hash.hash_definitions(package)["cdfForgerTicked"]
    assert (
        definition_hash.hash_definitions(move_field(package, "fetch_requested", "length"))["cdfForgerTicked"] != before
    )
    command = ("lineage", "cdfForgerTicked", "--filter", "min-adoptions=1", "--format", "json", "--cache", cache)
    filtered_result = run_assay(*command).parse_json()
    assert expected_field not in filtered_result["filterable"]
    assert expected_field in [{name: item[name] for name in expected_field} for item in filtered_result["fields"]]


@given(seed=SEEDS)
@settings(FEW, max_examples=4)
def test_fields_that_only_checks_read_change_no_result(seed: int) -> None:
    checked = create_checked_package(seed)
    for metric in checked.package.metrics:
        traced_result = trace_lineage(checked, metric)
        stored_fields = {
            (item.table, item.column)
            for item, role in traced_result.roles.items()
            if role in ("value", "picks", "rows")
        }
        statements = compile_metric(checked, metric)
        results = {repr(compute_result(checked, statements, seed, stored_fields, salt)) for salt in (0, 1, 2)}
        assert len(results) == 1


def compute_result(
    checked: CheckedPackage,
    statements: tuple[Statement, ...],
    seed: int,
    stored_fields: set[tuple[str, str]],
    salt: int,
) -> list[tuple[Any, ...]]:
    """Compute the metric on random rows; the values of fields outside of `stored_fields` depend on the salt."""
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        for event in checked.package.events:
            columns = [(item.name, "VARCHAR" if item.type == "text" else "BIGINT") for item in event.fields]
            column_definitions = ", ".join(f"{name} {kind}" for name, kind in columns)
            connection.execute(
                f"CREATE TABLE {event.name} (host VARCHAR, seq BIGINT, t_ns BIGINT, {column_definitions})"
            )
            order = Random(f"{seed} {event.name}")
            for host in ("a", "b"):
                rows = []
                for place in range(12):
                    row = [host, 4 * place + order.randrange(4), order.randrange(100)]
                    for name, kind in columns:
                        value = Random(
                            f"{seed} {name} {host} {place} {salt * ((event.name, name) not in stored_fields)}"
                        )
                        row.append(str(value.random()) if kind == "VARCHAR" else value.randrange(4))
                    rows.append(row)
                marks = ", ".join("?" * len(rows[0]))
                connection.executemany(f"INSERT INTO {event.name} VALUES ({marks})", rows)
        for item in statements:
            if item.kind == "table":
                connection.execute(build_create_sql(item))
        (metric,) = (item for item in statements if item.kind == "metric")
        return connection.execute(dialect.to_sql(metric.query)).fetchall()


@pytest.mark.parametrize("case", read_cases(CASES / "columns.sql"), ids=str)
def test_columns_of_a_query_are_traced(case: SqlCase) -> None:
    traced_columns = trace_columns(sqlglot.parse_one(case.sql, read="duckdb"), {"a": ("x", "z"), "b": ("u", "v")})
    value, rows = (
        " ".join(sorted(f"{item.table}.{item.column}" for item in origins)) or "none"
        for origins in (traced_columns.values["y"], traced_columns.rows)
    )
    assert f"value: {value}\nrows: {rows}" == case.expected


# The command


def test_lineage_as_data_leads_from_records_to_cells(cache: Path) -> None:
    data = run_assay("lineage", "CentiCpu", "--format", "json", "--cache", cache).parse_json()
    targets_by_node: dict[str, set[str]] = {}
    for edge in data["edges"]:
        targets_by_node.setdefault(edge["from"], set()).add(edge["to"])
    assert {item["id"] for item in data["nodes"]} >= set(targets_by_node)
    cell = "cell cardano/comparison: Resource Usage/Process CPU usage, %"
    path_nodes = {"resource_usage.cpu", "slot_rows.cpu", "slot.cpu", "CentiCpu.mean", cell}
    for start, event in ((".data.CentiCpu", "resources.centi_cpu"), (".at", "resources.t_ns")):
        (record,) = (item for item in targets_by_node if item.endswith(f" {start}"))
        reached: set[str] = set()
        queue = [record]
        while queue:
            new_nodes = targets_by_node.get(queue.pop(), set()) - reached
            reached |= new_nodes
            queue += new_nodes
        assert {event, *path_nodes} <= reached
    kinds = {item["id"]: item["kind"] for item in data["nodes"]}
    assert (kinds["resource_usage.cpu"], kinds["slot.cpu"], kinds["resources.t_ns"]) == ("relation", "grain", "event")


@pytest.mark.parametrize("name", ["cdfBlockSize", "latency", "block_rate"])
def test_dot_output_is_read_by_graphviz(cache: Path, name: str) -> None:
    data = run_assay("lineage", name, "--format", "json", "--cache", cache).parse_json()
    (graph,) = pydot.graph_from_dot_data(run_assay("lineage", name, "--format", "dot", "--cache", cache).out)
    node_names = {node.get_name().strip('"').replace('\\"', '"') for node in graph.get_nodes()} - {"node"}
    assert node_names == {item["id"] for item in data["nodes"]}
    assert len(graph.get_edges()) == len(data["edges"])


def test_names_with_quotes_and_escapes_stay_names_in_dot(lab: Laboratory) -> None:
    traced_result = find_lineage(lab.session, "cdfBlockSize")
    start = next(iter(traced_result.cells))
    strange_name = 'a "b" \\n </x> \x1b[31m \u202e {c}'
    (graph,) = pydot.graph_from_dot_data(
        to_dot(replace(traced_result, cells={start: (strange_name,)}).graph, strange_name)
    )
    (name,) = [node.get_name() for node in graph.get_nodes() if "cell" in node.get_name()]
    assert json.loads(name.replace("\\\\", "\\\\\\\\").replace('\\\\\\"', '\\"')).startswith('cell a "b" ')
    assert "\x1b" not in name
    assert "\\\\x1b[31m \\\\u202e {c}" in name


def test_a_report_has_the_lineage_of_all_its_cells(cache: Path) -> None:
    data = run_assay("lineage", "cardano/comparison", "--format", "json", "--cache", cache).parse_json()
    cells = {item["id"] for item in data["nodes"] if item["kind"] == "cell"}
    assert {"cell Resource Usage/Process CPU usage, %", "cell Forging/Ledger ticking, s"} <= cells
    assert data["filters"] == ["unitary"]
    assert {"logs", "event", "relation", "grain", "metric", "record", "rows", "cell", "check", "constant"} >= {
        item["kind"] for item in data["nodes"]
    }


def test_rows_that_are_counted_are_part_of_the_value(lab: Laboratory) -> None:
    traced_result = find_lineage(lab.session, "valid_txs").column_lineage
    assert traced_result.roles[Origin("loaded", ROWS)] == "value"
    assert traced_result.roles[Origin("loaded", "duration_ns")] == "check"
    assert traced_result.roles[Origin("loaded", "tx_hash")] == "check"


def test_a_metric_of_two_systems_needs_its_system(tmp_path: Path, cache: Path) -> None:
    import shutil

    workspace_root = copy_workspace(tmp_path / "two")
    for folder in ("specs", "queries"):
        shutil.copytree(workspace_root / folder / "cometbft", workspace_root / folder / "other")
    for file in (workspace_root / "specs" / "other").rglob("*.dhall"):
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace("queries/cometbft", "queries/other").replace('"cometbft"', '"other"'))
    result = run_assay("lineage", "latency_avg", "--cache", cache, cwd=workspace_root)
    assert (result.status, result.err) == (
        2,
        "error[ambiguous-metric]: `latency_avg` is a metric of `cometbft` and `other`\n  hint: pass --system NAME\n",
    )
    assert run_assay("lineage", "latency_avg", "--system", "other", "--cache", cache, cwd=workspace_root).status == 0


def test_names_that_a_query_defines_itself_are_resolved() -> None:
    """DuckDB groups and filters by names of the same SELECT."""
    text = "SELECT a AS k, coalesce(b, 1) AS tx, count(*) AS n FROM t GROUP BY k, tx HAVING n > 1"
    query = sqlglot.parse_one(text, read="duckdb")
    tree = qualify_columns(query, {"t": ("a", "b")})
    assert [item.sql() for item in tree.args["group"].expressions] == ["t.a", "COALESCE(t.b, 1)"]
