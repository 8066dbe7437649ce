"""Sums of real numbers have an order, wherever they are taken, so that no thread changes their last digits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from assay.engine import dry_run
from assay.engine.compiled_plan import compile_statements
from assay.engine.dry_run import SUM_WORD, find_inexact_sums
from assay.engine.graph import Node, build_nodes
from assay.lang.workspace import get_shipped_workspace, load_package
from assay.plan.planner import AppliedFilter, build_plan
from assay.plan.request import Request
from assay.sql import dialect
from assay.sql.relations import fill_constants
from assay.util.diagnostics import Diagnostic
from tests.support.commands import run_assay
from tests.support.workspaces import copy_workspace


@pytest.mark.parametrize("system", ["cardano", "cometbft", "antelope"])
@pytest.mark.parametrize("cut", [False, True], ids=["a run", "a phase"])
def test_compiled_statements_add_up_in_an_order(
    system: str, cut: bool, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The compiler's own statements, too."""
    checked = load_package(get_shipped_workspace(), system, cache)
    package = checked.package
    all_filters = [AppliedFilter(item, "1" if item.parameter else None) for item in package.filters]
    names = tuple(item.name for item in package.relations), tuple(item.name for item in package.series)
    compiled_plan = build_plan(package, Request(package.metrics, names[0], series=names[1]), all_filters, cut=cut)
    node_names: list[str] = []

    def check_sums(
        connection: duckdb.DuckDBPyConnection, node: Node, values: dict[str, object]
    ) -> Iterator[Diagnostic]:
        node_names.append(node.name)
        text = dialect.to_sql(fill_constants(node.statement.query, values))
        assert (node.name, list(find_inexact_sums(connection, text))) == (node.name, [])
        return iter(())

    monkeypatch.setattr(dry_run, "_check_sums", check_sums)
    graph = build_nodes(compile_statements(checked, compiled_plan))
    assert dry_run.run_on_empty_tables(graph, [item for source in package.sources for item in source.constants]) == ()
    assert len(node_names) > len(package.metrics)


def test_every_macro_that_sums_has_the_name_of_a_sum() -> None:
    """SQL without such a name is not planned; functions of lists have an order."""
    query = "SELECT function_name, macro_definition FROM duckdb_functions() WHERE function_type = 'macro'"
    macros = dict(duckdb.connect().execute(query).fetchall())
    sums = {name for name, text in macros.items() if SUM_WORD.search(text) and "list_aggr(" not in text}
    assert {"weighted_avg", "wavg", "geomean"} <= sums
    assert [name for name in sorted(sums) if not SUM_WORD.search(name)] == []
    query = "SELECT function_name FROM duckdb_functions() WHERE alias_of IN (SELECT unnest(?))"
    aliases = duckdb.connect().execute(query, [sorted(dry_run._SUMS)]).fetchall()
    assert [name for (name,) in aliases if not SUM_WORD.search(name)] == []


def test_sum_in_no_order_is_an_error_with_its_place(tmp_path: Path, cache: Path) -> None:
    place = copy_workspace(tmp_path)
    file = place / "queries" / "cardano" / "log_summary.sql"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(" ORDER BY host) / count(*)", ") / count(*)"), encoding="utf-8")
    result = run_assay("check", "--system", "cardano", "--cache", cache, cwd=place)
    assert result.status == 1
    assert result.err == (
        "error[sql-order]: the SQL of `log_summary` has a `fsum` of real numbers without an order: its last "
        "digits may differ each time\n"
        "  at queries/cardano/log_summary.sql:31:9\n"
        "    31 |         fsum(lines::DOUBLE / greatest((last_ns - first_ns) // 1000000000, 1)) / count(*) AS "
        "line_rate\n"
        "       |         ^^^^\n"
        "  expected: ORDER BY within it, such as `fsum(value ORDER BY value)`\n"
        "  hint: sums of whole numbers need no order\n"
    )
