"""Lineage: what it names is what decides, no more and no less; on random specs, and on those that are shipped."""

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

from assay.app.lineage import Traced, lineage_of, trace_subject
from assay.app.subject import MetricSubject
from assay.engine.compiled_plan import compile_statements
from assay.engine.dry_run import dry_run
from assay.engine.graph import nodes
from assay.lang import definition_hash, dependencies
from assay.lang.check import check
from assay.lang.checked_package import CheckedPackage, resolve
from assay.lang.model.package import Event, Field, Metric, Package
from assay.lineage.column_lineage import ROWS, Origin, trace_columns
from assay.lineage.graph import as_dot
from assay.lineage.metric_lineage import Lineage, lineage, root
from assay.plan.planner import AppliedFilter, plan
from assay.sql import dialect
from assay.sql.codegen import Statement, creation
from tests.support.commands import assay
from tests.support.laboratory import Laboratory
from tests.support.random_specs import random_package
from tests.support.sql_cases import SqlCase, read_cases
from tests.support.workspaces import NOWHERE, workspace

CASES = Path(__file__).parent / "cases"
SEEDS = st.integers(0, 2**32)
FEW = settings(derandomize=True, deadline=None, max_examples=8, suppress_health_check=list(HealthCheck))


def checked_package(seed: int) -> CheckedPackage:
    """A random package, which the checker finds right."""
    package = random_package(seed)
    assert [item.message for item in check.check(package, NOWHERE)] == []
    return resolve(package, "")


def statements_of(checked: CheckedPackage, metric: Metric) -> tuple[Statement, ...]:
    """The statements of a metric under all filters."""
    every = [AppliedFilter(item, None) for item in checked.package.filters]
    return compile_statements(checked, plan(checked.package, [metric], every))


def lineage_under_all(checked: CheckedPackage, metric: Metric) -> Lineage:
    """The lineage of a metric under all filters."""
    statements = statements_of(checked, metric)
    return lineage(statements, [root(statements, metric.id, "mean")])


def fields_of(events: Mapping[str, Any]) -> set[tuple[str, str]]:
    """Pairs of event and field."""
    return {(event, field) for event, fields in events.items() for field in fields}


def moved(package: Package, event: str, field: str) -> Package:
    """The package with a field of an event read from another path."""

    def other(item: Field) -> Field:
        return replace(item, paths=(("elsewhere",),)) if item.name == field else item

    def changed(item: Event) -> Event:
        forms = tuple(replace(form, fields=tuple(map(other, form.fields))) for form in item.forms)
        return replace(item, forms=forms) if item.name == event else item

    return replace(package, events=tuple(map(changed, package.events)))


@given(seed=SEEDS)
@FEW
def test_just_the_fields_on_the_way_change_the_definition_hash(seed: int) -> None:
    checked = checked_package(seed)
    statements = compile_statements(checked, plan(checked.package, checked.package.metrics, ()))
    assert dry_run(nodes(statements), ()) == ()
    every = {(event.name, field.name) for event in checked.package.events for field in event.fields}
    on_way = {metric.id: fields_of(lineage_under_all(checked, metric).events) for metric in checked.package.metrics}
    for metric in checked.package.metrics:
        needs = dependencies.collect_dependencies(checked.package, [metric], checked.package.filters)
        assert on_way[metric.id] == fields_of(needs.events)
    before = definition_hash.hash_definitions(checked.package)
    for event, field in sorted(every):
        after = definition_hash.hash_definitions(moved(checked.package, event, field))
        for metric in checked.package.metrics:
            assert (after[metric.id] != before[metric.id]) == ((event, field) in on_way[metric.id]), (event, field)


@pytest.mark.parametrize("seed", range(6))
def test_fields_that_filters_can_decide_by_are_named_apart(seed: int) -> None:
    checked = checked_package(seed)
    for metric in checked.package.metrics:
        subject = MetricSubject(checked, metric)
        alone = trace_subject(subject, (), subject.compile(()))
        assert named_by(alone) == fields_of(lineage_under_all(checked, metric).events)
        assert not {(event, field) for event, field, _ in alone.filterable} & fields_of(alone.found.events)


def named_by(traced: Traced) -> set[tuple[str, str]]:
    """The fields that a lineage names, in either part."""
    return fields_of(traced.found.events) | {(event, field) for event, field, _ in traced.filterable}


@pytest.mark.parametrize("system", ["antelope", "cardano", "cometbft"])
def test_lineage_names_all_fields_of_the_definition_hash(lab: Laboratory, system: str) -> None:
    package = lab.session.package(system).package
    beyond = 0
    for metric in package.metrics:
        traced = lineage_of(lab.session, metric.id, system)
        assert named_by(traced) == fields_of(
            dependencies.collect_dependencies(package, [metric], package.filters).events
        ), metric.id
        beyond += bool(traced.filterable)
    assert (beyond > 40) == (system == "cardano")
    for report in (*package.reports, *package.articles):
        traced = lineage_of(lab.session, f"{system}/{report.name}")
        due = dependencies.collect_dependencies(package, traced.metrics, package.filters).events
        assert fields_of(due) <= named_by(traced) | fields_of(
            dependencies.collect_dependencies(package, traced.metrics, ()).events
        )


def test_what_filters_can_decide_by_is_a_part_of_its_own(lab: Laboratory, cache: Path) -> None:
    due = {"event": "fetch_requested", "field": "length", "places": [".data.length"]}
    data = assay("lineage", "cdfForgerTicked", "--format", "json", "--cache", cache).json()
    switched = {"event": "fork_switched", "field": "block", "places": [".data.newtip"]}
    assert data["filterable"] == [due, switched]
    assert ("fetch_requested", "length") not in {(item["event"], item["field"]) for item in data["fields"]}
    package = lab.session.package("cardano").package
    before = definition_hash.hash_definitions(package)["cdfForgerTicked"]
    assert definition_hash.hash_definitions(moved(package, "fetch_requested", "length"))["cdfForgerTicked"] != before
    words = ("lineage", "cdfForgerTicked", "--filter", "min-adoptions=1", "--format", "json", "--cache", cache)
    applied = assay(*words).json()
    assert due not in applied["filterable"]
    assert due in [{name: item[name] for name in due} for item in applied["fields"]]


@given(seed=SEEDS)
@settings(FEW, max_examples=4)
def test_fields_that_only_checks_read_change_no_result(seed: int) -> None:
    checked = checked_package(seed)
    for metric in checked.package.metrics:
        traced_result = lineage_under_all(checked, metric)
        stored = {
            (item.table, item.column)
            for item, role in traced_result.roles.items()
            if role in ("value", "picks", "rows")
        }
        statements = statements_of(checked, metric)
        results = {repr(result(checked, statements, seed, stored, salt)) for salt in (0, 1, 2)}
        assert len(results) == 1


def result(
    checked: CheckedPackage, statements: tuple[Statement, ...], seed: int, stored: set[tuple[str, str]], salt: int
) -> list[tuple[Any, ...]]:
    """The metric on random rows; the values of fields that are not kept depend on the salt."""
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        for event in checked.package.events:
            columns = [(item.name, "VARCHAR" if item.type == "text" else "BIGINT") for item in event.fields]
            defined = ", ".join(f"{name} {kind}" for name, kind in columns)
            connection.execute(f"CREATE TABLE {event.name} (host VARCHAR, seq BIGINT, t_ns BIGINT, {defined})")
            order = Random(f"{seed} {event.name}")
            for host in ("a", "b"):
                rows = []
                for place in range(12):
                    row = [host, 4 * place + order.randrange(4), order.randrange(100)]
                    for name, kind in columns:
                        value = Random(f"{seed} {name} {host} {place} {salt * ((event.name, name) not in stored)}")
                        row.append(str(value.random()) if kind == "VARCHAR" else value.randrange(4))
                    rows.append(row)
                marks = ", ".join("?" * len(rows[0]))
                connection.executemany(f"INSERT INTO {event.name} VALUES ({marks})", rows)
        for item in statements:
            if item.kind == "table":
                connection.execute(creation(item))
        (metric,) = (item for item in statements if item.kind == "metric")
        return connection.execute(dialect.text(metric.query)).fetchall()


@pytest.mark.parametrize("case", read_cases(CASES / "columns.sql"), ids=str)
def test_columns_of_a_query_are_traced(case: SqlCase) -> None:
    traced = trace_columns(sqlglot.parse_one(case.sql, read="duckdb"), {"a": ("x", "z"), "b": ("u", "v")})
    value, rows = (
        " ".join(sorted(f"{item.table}.{item.column}" for item in origins)) or "none"
        for origins in (traced.values["y"], traced.rows)
    )
    assert f"value: {value}\nrows: {rows}" == case.expected


# The command


def test_lineage_as_data_leads_from_records_to_cells(cache: Path) -> None:
    data = assay("lineage", "CentiCpu", "--format", "json", "--cache", cache).json()
    gives: dict[str, set[str]] = {}
    for edge in data["edges"]:
        gives.setdefault(edge["from"], set()).add(edge["to"])
    assert {item["id"] for item in data["nodes"]} >= set(gives)
    cell = "cell cardano/comparison: Resource Usage/Process CPU usage, %"
    way = {"resource_usage.cpu", "slot_rows.cpu", "slot.cpu", "CentiCpu.mean", cell}
    for start, event in ((".data.CentiCpu", "resources.centi_cpu"), (".at", "resources.t_ns")):
        (record,) = (item for item in gives if item.endswith(f" {start}"))
        reached: set[str] = set()
        queue = [record]
        while queue:
            more = gives.get(queue.pop(), set()) - reached
            reached |= more
            queue += more
        assert {event, *way} <= reached
    kinds = {item["id"]: item["kind"] for item in data["nodes"]}
    assert (kinds["resource_usage.cpu"], kinds["slot.cpu"], kinds["resources.t_ns"]) == ("relation", "grain", "event")


@pytest.mark.parametrize("name", ["cdfBlockSize", "latency", "block_rate"])
def test_dot_is_what_graphviz_reads(cache: Path, name: str) -> None:
    data = assay("lineage", name, "--format", "json", "--cache", cache).json()
    (read,) = pydot.graph_from_dot_data(assay("lineage", name, "--format", "dot", "--cache", cache).out)
    named = {node.get_name().strip('"').replace('\\"', '"') for node in read.get_nodes()} - {"node"}
    assert named == {item["id"] for item in data["nodes"]}
    assert len(read.get_edges()) == len(data["edges"])


def test_names_with_quotes_and_escapes_stay_names_in_dot(lab: Laboratory) -> None:
    traced_result = lineage_of(lab.session, "cdfBlockSize")
    start = next(iter(traced_result.cells))
    strange = 'a "b" \\n </x> \x1b[31m \u202e {c}'
    (read,) = pydot.graph_from_dot_data(as_dot(replace(traced_result, cells={start: (strange,)}).graph, strange))
    (name,) = [node.get_name() for node in read.get_nodes() if "cell" in node.get_name()]
    assert json.loads(name.replace("\\\\", "\\\\\\\\").replace('\\\\\\"', '\\"')).startswith('cell a "b" ')
    assert "\x1b" not in name
    assert "\\\\x1b[31m \\\\u202e {c}" in name


def test_a_report_has_the_lineage_of_all_its_cells(cache: Path) -> None:
    data = assay("lineage", "cardano/comparison", "--format", "json", "--cache", cache).json()
    cells = {item["id"] for item in data["nodes"] if item["kind"] == "cell"}
    assert {"cell Resource Usage/Process CPU usage, %", "cell Forging/Ledger ticking, s"} <= cells
    assert data["filters"] == ["unitary"]
    assert {"logs", "event", "relation", "grain", "metric", "record", "cell", "check", "constant"} >= {
        item["kind"] for item in data["nodes"]
    }


def test_rows_that_are_counted_are_part_of_the_value(lab: Laboratory) -> None:
    traced_result = lineage_of(lab.session, "valid_txs").found
    assert traced_result.roles[Origin("loaded", ROWS)] == "value"
    assert traced_result.roles[Origin("loaded", "duration_ns")] == "read"
    assert traced_result.roles[Origin("loaded", "tx_hash")] == "check"


def test_a_metric_of_two_systems_needs_its_system(tmp_path: Path, cache: Path) -> None:
    import shutil

    here = workspace(tmp_path / "two")
    for folder in ("specs", "queries"):
        shutil.copytree(here / folder / "cometbft", here / folder / "other")
    for file in (here / "specs" / "other").rglob("*.dhall"):
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace("queries/cometbft", "queries/other").replace('"cometbft"', '"other"'))
    done = assay("lineage", "latency_avg", "--cache", cache, within=here)
    assert (done.status, done.err) == (
        2,
        "error[ambiguous-metric]: `latency_avg` is a metric of `cometbft` and `other`\n"
        "  hint: name the system with --system\n",
    )
    assert assay("lineage", "latency_avg", "--system", "other", "--cache", cache, within=here).status == 0
