"""Run every statement of plans on empty tables, to compare what SQL yields with what it declares.

This also reports sums of real numbers without an order: the last digits of such a sum depend on the order of addition,
which depends on the number of threads.  The types of the summed values come from the engine's plan of a query.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from assay.engine.connection import Limits, apply_limits
from assay.engine.declarations import check_declaration, get_spec_sql, list_placeholders, locate_error
from assay.engine.graph import Node
from assay.engine.mount import bind_parameters, confine_connection
from assay.lang.model.package import Constant
from assay.lang.model.vocabulary import SINCE, UNTIL
from assay.lang.reserved_names import SERIES
from assay.lang.scopes import HOST, LOG_COLUMNS, LOGS
from assay.plan.planner import CheckStep, EventStep, RelationStep
from assay.sql import dialect
from assay.sql.dialect import build_empty_table
from assay.sql.error_positions import find_word, suggest_columns
from assay.sql.relations import fill_constants
from assay.util.diagnostics import Diagnostic, suggest_names
from assay.util.time_units import SECOND

if TYPE_CHECKING:
    import duckdb


#: aggregate functions that add or multiply values
_SUMS = frozenset(
    (
        "sum", "avg", "mean", "fsum", "sumkahan", "kahan_sum", "favg", "product", "geomean", "geometric_mean",
        "stddev", "stddev_samp", "stddev_pop", "variance", "var_samp", "var_pop", "sem", "skewness", "kurtosis",
        "kurtosis_pop", "entropy", "corr", "covar_samp", "covar_pop", "regr_avgx", "regr_avgy", "regr_intercept",
        "regr_r2", "regr_slope", "regr_sxx", "regr_sxy", "regr_syy",
    )
)  # fmt: skip
#: a name of an aggregate function that adds or multiplies, or of a macro that calls one
SUM_WORD = re.compile(rf"\b(?:{'|'.join(sorted(_SUMS))}|weighted_avg|wavg)\b", re.IGNORECASE)
_REAL = ("DOUBLE", "FLOAT")
_AS_PLANNED = "SELECT json_serialize_plan(?, optimize := false)"
_WHOLE = ("UNBOUNDED_PRECEDING", "UNBOUNDED_FOLLOWING")


def find_inexact_sums(connection: duckdb.DuckDBPyConnection, sql: str) -> Iterator[str]:
    """Yield the functions of a query that sum up real numbers without an order.

    The query has no placeholders, and reads tables of the connection.  Functions of lists are excluded, because a list
    has an order.  Yields nothing for a query whose plan the engine cannot serialize.
    """
    row = connection.execute(_AS_PLANNED, [sql]).fetchone()
    assert row is not None
    yield from dict.fromkeys(name for item in _list_aggregates(json.loads(row[0])) if (name := _name_if_inexact(item)))


def _list_aggregates(plan: object) -> Iterator[Mapping[str, Any]]:
    """Yield the calls of aggregate and window functions in a plan, except those of list functions."""
    if isinstance(plan, list):
        for item in plan:
            yield from _list_aggregates(item)
    elif isinstance(plan, dict):
        if plan.get("expression_class") in ("BOUND_AGGREGATE", "BOUND_WINDOW"):
            yield plan
        for key, item in plan.items():
            if key != "function_data":
                yield from _list_aggregates(item)


def _name_if_inexact(call: Mapping[str, Any]) -> str:
    """Return the name of a function that sums up real numbers without an order; empty for other calls."""
    name = str(call.get("qname", {}).get("path", [""])[-1])
    is_real = any(item["id"] in _REAL for item in call.get("arguments", ()))
    return name if name in _SUMS and is_real and not _has_order(call) else ""


def _has_order(call: Mapping[str, Any]) -> bool:
    """Return whether a call orders its values.

    A window also orders them by a frame of the rows up to the current one.
    """
    if call["expression_class"] == "BOUND_AGGREGATE":
        return bool(call.get("order_bys"))
    return bool(call.get("arg_orders")) or bool(call.get("orders") and (call.get("start"), call.get("end")) != _WHOLE)


SECONDS = 20
MEMORY = "1GB"
ROOM = 1500  # MiB by which the process may grow during a statement
_KEYS = {HOST: "text", "seq": "integer", "t_ns": "instant", SERIES: "integer"}
_SAMPLES: Mapping[str, object] = {
    "integer": 1, "real": 0.5, "text": "", "boolean": False, "instant": 0, "duration": SECOND,
}  # fmt: skip


def run_on_empty_tables(graph: Sequence[Node], constants: Iterable[Constant]) -> tuple[Diagnostic, ...]:
    """Return the problems of the statements of a plan, as `DryRun.run` does."""
    with DryRun(constants) as dry_run:
        return dry_run.run(graph)


class DryRun:
    """An engine that runs the statements of one plan after the other on empty tables.

    A statement that a former plan has, too, does not run again, unless it reads a table that differs.
    """

    def __init__(self, constants: Iterable[Constant]) -> None:
        import duckdb

        self._values = {item.name: _SAMPLES[item.type] for item in constants} | {SINCE: 0, UNTIL: 1}
        self._former_nodes: dict[str, Node] = {}
        self._connection = duckdb.connect()
        self._connection.execute(f"SET memory_limit = '{MEMORY}'")
        confine_connection(self._connection)
        self._connection.execute(
            build_empty_table(LOGS, ((name, log_column.type) for name, log_column in LOG_COLUMNS.items()))
        )

    def __enter__(self) -> DryRun:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def run(self, graph: Sequence[Node]) -> tuple[Diagnostic, ...]:
        """Return the problems of statements: those that fail, and relations that do not yield what they declare.

        Expects that no former plan has a problem.
        """
        changed: set[str] = set()  # tables that differ from those of the former plan
        faulty: set[str] = set()  # tables that differ from their declaration, and tables that read these
        problems: list[Diagnostic] = []
        for name in self._former_nodes.keys() - {node.name for node in graph}:
            self._drop_table(self._former_nodes.pop(name))
        for node in graph:
            if node.name == LOGS:
                continue
            former_node = self._former_nodes.get(node.name)
            if former_node and former_node.text == node.text and not changed & set(node.reads):
                continue
            former_columns = self._drop_table(former_node) if former_node else None
            if not self._run_node(graph, node, faulty, problems):
                break
            self._former_nodes[node.name] = node
            if former_columns is None or former_columns != self._describe_empty_table(node):
                changed.add(node.name)
        return tuple(problems)

    def _run_node(self, graph: Sequence[Node], node: Node, faulty: set[str], problems: list[Diagnostic]) -> bool:
        """Run a statement, and add its problems and whether it is faulty; return False if no other should run."""
        import duckdb

        step = node.statement.step
        connection = self._connection
        if isinstance(step, EventStep):
            fields = [(item.name, item.type) for item in step.event.fields if item.name in step.fields]
            base = [(name, _KEYS[name]) for name in step.keys]
            connection.execute(build_empty_table(step.name, (*base, *fields)))
            return True
        faulty |= {node.name} if faulty & set(node.reads) else set()
        parameters = bind_parameters(node.placeholders, self._values)
        limits = Limits(f"the SQL of `{node.name}` on empty tables", SECONDS, ROOM, is_fixed=True)
        try:
            with apply_limits(connection, limits):
                connection.execute(node.text, parameters)
                if isinstance(step, CheckStep):
                    problems += _check_placeholders(step, [str(item[0]) for item in connection.description or ()])
                if isinstance(step, RelationStep):
                    mismatches = list(check_declaration(connection, step.relation))
                    problems += mismatches
                    faulty |= {node.name} if mismatches else set()
                problems += _check_sums(connection, node, self._values)
        except duckdb.InterruptException:
            problems += (replace(item, text=get_spec_sql(node)) for item in limits.build_time_error().diagnostics)
            return False
        except duckdb.Error as error:
            if node.name in faulty:
                return True  # the cause of this failure is already reported
            with apply_limits(connection, limits):
                problems.append(_describe_failure(connection, node, parameters, error, _list_columns(graph, node)))
            return False
        return True

    def _drop_table(self, node: Node) -> list[tuple[object, ...]] | None:
        """Drop the table of a statement, if it has one; return its columns like `_describe_empty_table`."""
        columns = self._describe_empty_table(node)
        if node.statement.kind in ("table", "view"):
            self._connection.execute(dialect.to_sql(exp.Drop(tables=[dialect.build_table(node.name)], kind="TABLE")))
        return columns

    def _describe_empty_table(self, node: Node) -> list[tuple[object, ...]] | None:
        """Return the columns of the table of a statement; empty for a statement without one, None if it has rows."""
        if node.statement.kind not in ("table", "view"):
            return []
        table = dialect.to_sql(dialect.build_table(node.name))
        if self._connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone():
            return None
        return self._connection.execute(f"DESCRIBE {table}").fetchall()


def _check_sums(
    connection: duckdb.DuckDBPyConnection, node: Node, values: Mapping[str, object]
) -> Iterator[Diagnostic]:
    """Report sums of real numbers without an order in the SQL of specs."""
    sql = get_spec_sql(node)
    if not SUM_WORD.search(sql):
        return
    for name in find_inexact_sums(connection, dialect.to_sql(fill_constants(node.statement.query, values))):
        yield Diagnostic(
            "sql-order",
            f"the SQL of `{node.name}` has a `{name}` of real numbers without an order: its last digits may differ "
            "each time",
            find_word(sql, name, before="("),
            expected=f"ORDER BY within it, such as `{name}(value ORDER BY value)`",
            hint="sums of whole numbers need no order",
            text=sql,
        )


def _check_placeholders(step: CheckStep, columns: Sequence[str]) -> Iterator[Diagnostic]:
    """Report placeholders in the texts of a check that name none of its columns."""
    for name in list_placeholders(step.check.message + step.check.hint):
        if name not in columns:
            message = f"unknown column `{name}` in the message or hint of check `{step.check.code}` of `{step.table}`"
            yield Diagnostic("check-place", message, found=", ".join(columns), hint=suggest_names(name, columns))


def _list_columns(graph: Iterable[Node], node: Node) -> list[str]:
    """Return the columns of the tables that a relation uses, even those that no statement reads."""
    step = node.statement.step
    names = {*step.relation.uses} if isinstance(step, RelationStep) else set()
    steps = [item.statement.step for item in graph]
    events = [item.event for item in steps if isinstance(item, EventStep) and item.name in names]
    relations = [item.relation for item in steps if isinstance(item, RelationStep) and item.relation.name in names]
    fields = [item.name for event in events for form in event.forms for item in form.fields]
    return [*fields, *(column.name for relation in relations for column in relation.columns)]


def _describe_failure(
    connection: duckdb.DuckDBPyConnection,
    node: Node,
    values: Mapping[str, object] | None,
    error: Exception,
    columns: Iterable[str],
) -> Diagnostic:
    error_text = str(error)
    sql = get_spec_sql(node)
    span = locate_error(connection, sql, values)
    excerpt = error_text[error_text.index("LINE ") :] if "LINE " in error_text and not span else ""
    cause = error_text.split("\n")[0]
    return Diagnostic(
        "sql",
        f"the SQL of `{node.name}` fails: {cause}",
        span,
        excerpt,
        hint=suggest_columns(error_text, columns),
        text=sql,
    )
