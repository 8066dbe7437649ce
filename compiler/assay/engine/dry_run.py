"""Run every statement of plans on empty tables, to compare what SQL yields with what it declares.

This also reports sums of real numbers without an order: the last digits of such a sum depend on the order of addition,
which depends on the number of threads.  The types of the summed values come from the engine's plan of a query.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
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
Columns = tuple[tuple[str, str], ...]
"""The columns of a table, each with the engine's name of its type; `_ROWS` and a hash for a table that has rows."""
_ROWS = ""
_HASH_LENGTH = 32
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

    A statement that passed before does not run again, unless a table that it reads has other columns. `passed` has the
    columns of the tables of such statements, by the hash of all that the run of a statement depends on: a former dry
    run may pass it on.
    """

    def __init__(self, constants: Iterable[Constant], passed: Mapping[str, Columns] | None = None) -> None:
        self.passed: dict[str, Columns] = dict(passed or {})
        self.used: set[str] = set()
        self._values = {item.name: _SAMPLES[item.type] for item in constants} | {SINCE: 0, UNTIL: 1}
        self._nodes: dict[str, Node] = {}
        self._columns: dict[str, Columns] = {}
        self._created: dict[str, Columns] = {}

    def __enter__(self) -> DryRun:
        return self

    def __exit__(self, *_: object) -> None:
        if "_connection" in self.__dict__:
            self._connection.close()

    @cached_property
    def _connection(self) -> duckdb.DuckDBPyConnection:
        """Return the engine, opened when the first statement runs."""
        import duckdb

        connection = duckdb.connect()
        connection.execute(f"SET memory_limit = '{MEMORY}'")
        confine_connection(connection)
        log_columns = ((name, log_column.type) for name, log_column in LOG_COLUMNS.items())
        connection.execute(build_empty_table(LOGS, log_columns))
        return connection

    def run(self, graph: Sequence[Node]) -> tuple[Diagnostic, ...]:
        """Return the problems of statements: those that fail, and relations that do not yield what they declare.

        Expects that no former plan has a problem.
        """
        faulty: set[str] = set()  # tables that differ from their declaration, and tables that read these
        problems: list[Diagnostic] = []
        self._nodes = {node.name: node for node in graph if node.name != LOGS}
        self._columns = {}
        for name in [*self._created]:
            if name not in self._nodes:
                self._drop_table(name)
        for node in self._nodes.values():
            key = self._hash_node(node)
            columns = self.passed.get(key)
            if columns is None:
                self._create_tables(node.reads)
                self._drop_table(node.name)
                problem_count = len(problems)
                if not self._run_node(graph, node, faulty, problems):
                    break
                is_faulty = node.name in faulty  # it may have no table
                columns = ((_ROWS, key),) if is_faulty else self._describe_table(node, key)
                self._created[node.name] = columns
                if len(problems) == problem_count and not is_faulty:
                    self.passed[key] = columns
            self.used.add(key)
            self._columns[node.name] = columns
        return tuple(problems)

    def _hash_node(self, node: Node) -> str:
        """Return the hash of a statement, of what it declares and of the columns that it reads."""
        step = node.statement.step
        content = (
            node.text,
            step.relation if isinstance(step, RelationStep) else step.check if isinstance(step, CheckStep) else None,
            _list_event_columns(step) if isinstance(step, EventStep) else (),
            [(name, self._values.get(name)) for name in node.placeholders],
            [(name, self._columns.get(name)) for name in node.reads],
        )
        return hashlib.sha256(repr(content).encode()).hexdigest()[:_HASH_LENGTH]

    def _create_tables(self, names: Iterable[str]) -> None:
        """Create the tables of statements that passed, without rows where their statement yields none."""
        for name in names:
            if self._created.get(name) == self._columns.get(name):
                continue
            self._drop_table(name)
            node, columns = self._nodes[name], self._columns[name]
            if columns[0][0] == _ROWS:
                self._create_tables(node.reads)
                self._connection.execute(node.text, bind_parameters(node.placeholders, self._values))
            else:
                table = dialect.to_sql(dialect.build_table(name))
                definitions = ", ".join(
                    f"{dialect.to_sql(exp.to_identifier(column, quoted=True))} {kind}" for column, kind in columns
                )
                self._connection.execute(f"CREATE TABLE {table} ({definitions})")
            self._created[name] = columns

    def _run_node(self, graph: Sequence[Node], node: Node, faulty: set[str], problems: list[Diagnostic]) -> bool:
        """Run a statement, and add its problems and whether it is faulty; return False if no other should run."""
        import duckdb

        step = node.statement.step
        connection = self._connection
        if isinstance(step, EventStep):
            connection.execute(build_empty_table(step.name, _list_event_columns(step)))
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

    def _drop_table(self, name: str) -> None:
        """Drop the table of a statement of this or a former plan, if it was created."""
        if self._created.pop(name, ()):
            self._connection.execute(dialect.to_sql(exp.Drop(tables=[dialect.build_table(name)], kind="TABLE")))

    def _describe_table(self, node: Node, key: str) -> Columns:
        """Return the columns of the table of a statement: none without a table, `key` for a table that has rows."""
        if node.statement.kind not in ("table", "view"):
            return ()
        table = dialect.to_sql(dialect.build_table(node.name))
        if self._connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone():
            return ((_ROWS, key),)
        return tuple((str(row[0]), str(row[1])) for row in self._connection.execute(f"DESCRIBE {table}").fetchall())


def _list_event_columns(step: EventStep) -> list[tuple[str, str]]:
    """Return the columns of the rows of an event, with their types in the language of specs."""
    fields = [(item.name, item.type) for item in step.event.fields if item.name in step.fields]
    return [*((name, _KEYS[name]) for name in step.keys), *fields]


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
