"""Sums of real numbers have an order, wherever they are taken, so that no thread changes their last digits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from assay.engine import dry_run
from assay.engine.compiled_plan import compile_statements
from assay.engine.dry_run import inexact
from assay.engine.graph import Node, nodes
from assay.lang.workspace import load, shipped
from assay.plan.planner import Applied, plan
from assay.sql import dialect
from assay.sql.relations import filled
from assay.util.diagnostics import Diagnostic
from tests.support.commands import assay
from tests.support.workspaces import workspace

TABLES = "CREATE TABLE t (a BIGINT, x DOUBLE, f FLOAT, d DECIMAL(10, 2), k TEXT); CREATE VIEW v AS SELECT x AS y FROM t"


@pytest.mark.parametrize(
    ("sql", "due"),
    [
        ("SELECT sum(x) FROM t", ["sum"]),
        ("SELECT sum(f), AVG(x), avg(a), stddev(a) FROM t", ["sum", "avg", "stddev"]),
        ("SELECT sum(x) FILTER (WHERE k = 'a') FROM t GROUP BY k", ["sum"]),
        ("SELECT mean(y) FROM v", ["mean"]),
        ("SELECT sum(a / 2) FROM t", ["sum"]),
        ("SELECT regr_slope(x, a), corr(a, a) FROM t", ["regr_slope", "corr"]),
        ("WITH s AS (SELECT k, fsum(x) AS z FROM t GROUP BY k) SELECT max(z) FROM s", ["fsum"]),
        ("SELECT a FROM t WHERE x > (SELECT avg(x) FROM t)", ["avg"]),
        ("SELECT a FROM t WHERE EXISTS (SELECT 1 FROM t AS u WHERE u.k = t.k HAVING sum(x) > 1)", ["sum"]),
        ("SELECT sum(a) FROM t UNION ALL SELECT product(x) FROM t", ["product"]),
        ("SELECT sum(x) OVER (PARTITION BY k) FROM t", ["sum"]),
        ("SELECT sum(x) OVER (ORDER BY a ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM t", ["sum"]),
        # whole and decimal numbers are added exactly
        ("SELECT sum(a), avg(a), sum(d), avg(d), sum(a // 2), sum(x::DECIMAL(18, 3)), count(*) FROM t", []),
        # an order is told, of a list by the list
        ("SELECT sum(x ORDER BY a), stddev(x ORDER BY x) FILTER (WHERE x > 0) FROM t", []),
        ("SELECT sum(x) OVER (ORDER BY a), sum(x ORDER BY a) OVER (PARTITION BY k) FROM t", []),
        ("SELECT list_sum(list(x ORDER BY a)), list_aggregate(list(x ORDER BY a), 'stddev') FROM t", []),
        # nothing is added up
        ("SELECT max(x), median(x), quantile_cont(x, 0.3), arg_max(x, a), count(x) FROM t", []),
        ("SELECT row_number() OVER (ORDER BY a), lag(x) OVER (ORDER BY a) FROM t", []),
    ],
)
def test_sums_in_no_order(sql: str, due: list[str]) -> None:
    with duckdb.connect() as connection:
        connection.execute(TABLES)
        connection.execute(sql)
        assert list(inexact(connection, sql)) == due


@pytest.mark.parametrize("system", ["cardano", "cometbft", "antelope"])
@pytest.mark.parametrize("cut", [False, True], ids=["a run", "a phase"])
def test_what_is_compiled_adds_up_in_an_order(
    system: str, cut: bool, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The compiler's own statements, too."""
    checked = load(shipped(), system, cache)
    package = checked.package
    every = [Applied(item, "1" if item.parameter else None) for item in package.filters]
    names = [item.name for item in package.relations], [item.name for item in package.series]
    made = plan(package, package.metrics, every, names[0], series=names[1], cut=cut)
    asked: list[str] = []

    def found(connection: duckdb.DuckDBPyConnection, node: Node, values: dict[str, object]) -> Iterator[Diagnostic]:
        asked.append(node.name)
        text = dialect.text(filled(node.statement.query, values))
        assert (node.name, list(inexact(connection, text))) == (node.name, [])
        return iter(())

    monkeypatch.setattr(dry_run, "_unordered_sums", found)
    graph = nodes(compile_statements(checked, made))
    assert dry_run.dry_run(graph, [item for source in package.sources for item in source.constants]) == ()
    assert len(asked) > len(package.metrics)


def test_a_sum_in_no_order_is_an_error_with_its_place(tmp_path: Path, cache: Path) -> None:
    place = workspace(tmp_path)
    file = place / "queries" / "cardano" / "run_summary.sql"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(" ORDER BY host) / count(*)", ") / count(*)"), encoding="utf-8")
    done = assay("check", "--system", "cardano", "--cache", cache, within=place)
    assert done.status == 1
    assert done.err == (
        "error[sql-order]: the SQL of `run_summary` has a `fsum` of real numbers in no order: the engine may take "
        "others first each time, and its last digits are other ones then\n"
        "  at queries/cardano/run_summary.sql:31:9\n"
        "    31 |         fsum(lines::DOUBLE / greatest((last_ns - first_ns) // 1000000000, 1)) / count(*) AS "
        "line_rate\n"
        "       |         ^^^^\n"
        "  expected: ORDER BY within it, such as `fsum(value ORDER BY value)`\n"
        "  hint: sums of whole numbers need none\n"
    )
