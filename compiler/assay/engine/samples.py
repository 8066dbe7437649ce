"""Compute the samples of metrics one by one, and the branches of expressions that rows take, for `assay test`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from assay.engine import connection as limit
from assay.engine.failed_checks import build_check_problem, fetch_offenders
from assay.engine.graph import Node, collect_needed
from assay.engine.mount import bind_parameters
from assay.lang.model.expression import Expression, format_expression
from assay.lang.model.package import Metric
from assay.lang.scopes import HOST
from assay.plan.planner import CheckStep, EventStep
from assay.sql import dialect
from assay.sql.codegen import Statement, build_create_sql
from assay.sql.distributions import select_samples
from assay.sql.expressions import Names, build_placeholders, compile_expression
from assay.util.diagnostics import Diagnostic

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True, slots=True)
class Branch:
    """An alternative of an expression: the `number`th operand (from 1) of a `coalesce`, in words."""

    expression_name: str
    number: int
    text: str


def create_tables(
    connection: duckdb.DuckDBPyConnection,
    graph: Sequence[Node],
    names: set[str],
    constants: Mapping[str, object],
    last_first: bool = False,
) -> None:
    """Create the tables that the statements `names` read.

    With `last_first`, the records of events are in reverse order.
    """
    needed = collect_needed(graph, names)
    for node in graph:
        if node.name in needed and node.statement.kind in ("table", "view"):
            is_reversed = last_first and isinstance(node.statement.step, EventStep)
            text = build_create_sql(_reverse_records(node.statement)) if is_reversed else node.text
            limit.execute(
                connection,
                text,
                bind_parameters(node.placeholders, constants),
                limit.read_limits(f"the SQL of `{node.name}`"),
            )


def _reverse_records(statement: Statement) -> Statement:
    """Return the table of an event with its last record first; a view would have no defined order."""
    order = [exp.Ordered(this=dialect.build_column(name), desc=True) for name in ("seq", HOST)]
    alias = exp.TableAlias(this=exp.to_identifier("records"))
    records = exp.Subquery(this=statement.query.copy(), alias=alias)
    return replace(statement, kind="table", query=dialect.select("*").from_(records).order_by(*order))


def find_failed_checks(
    connection: duckdb.DuckDBPyConnection, graph: Sequence[Node], constants: Mapping[str, object], label: str
) -> Iterator[Diagnostic]:
    """Yield the problems of the failed checks of a plan.  Expects that the tables that they read exist."""
    for node in graph:
        step = node.statement.step
        if isinstance(step, CheckStep) and step.check.severity == "error":
            limits = limit.read_limits(f"the SQL of `{node.name}`")
            cursor = limit.execute(connection, node.text, bind_parameters(node.placeholders, constants), limits)
            first, further_count = fetch_offenders(cursor)
            if first is not None:
                yield build_check_problem(step, first, further_count, label)


def fetch_samples(
    connection: duckdb.DuckDBPyConnection, metric: Metric, integral: bool, constants: Mapping[str, object]
) -> list[int | float]:
    """Return all samples of a metric as measured, ascending; `integral`: they are exact integers.

    Expects that the table of the metric's grain exists.
    """
    sample_query = select_samples(metric, integral, build_placeholders(list(constants)))
    query = exp.select("value").from_(sample_query.subquery("samples")).order_by("value")
    return [row[0] for row in _fetch_tuples(connection, query, constants)]


def fetch_rows(
    connection: duckdb.DuckDBPyConnection, query: exp.Select, constants: Mapping[str, object]
) -> list[dict[str, Any]]:
    """Return the rows of a query by the names of its columns.  Expects that the tables that it reads exist."""
    names = [item.alias_or_name for item in query.selects]
    return [dict(zip(names, row, strict=True)) for row in _fetch_tuples(connection, query, constants)]


def find_taken_branches(
    connection: duckdb.DuckDBPyConnection,
    grain: str,
    expressions: Mapping[str, Expression],
    constants: Mapping[str, object],
) -> Iterator[Branch]:
    """Yield the branches of expressions (by their names) that some row of a grain takes."""
    names = Names(constants=build_placeholders(list(constants)))
    for name, expression in expressions.items():
        for branch, node in list_branches(name, expression):
            earlier_are_null = [
                build_presence_test(compile_expression(item, names), False)
                for item in node.operands[: branch.number - 1]
            ]
            is_taken = build_presence_test(compile_expression(node.operands[branch.number - 1], names), True)
            query = (
                exp.select(exp.Count(this=exp.Star()))
                .from_(dialect.build_table(grain))
                .where(*earlier_are_null, is_taken)
            )
            if _fetch_tuples(connection, query, constants)[0][0]:
                yield branch


def list_branches(name: str, expression: Expression) -> Iterator[tuple[Branch, Expression]]:
    """Yield all branches of an expression, each with the node that has it as an operand."""
    for node in expression.walk():
        if node.op == "coalesce":
            for number, operand in enumerate(node.operands, start=1):
                yield Branch(name, number, format_expression(operand)), node


def build_presence_test(value: exp.Expr, is_expected: bool) -> exp.Expr:
    """Return the condition that a value is not null; if not `is_expected`, that it is null."""
    is_null = exp.Is(this=exp.paren(value), expression=exp.Null())
    return exp.Not(this=is_null) if is_expected else is_null


def _fetch_tuples(connection: duckdb.DuckDBPyConnection, query: exp.Expr, constants: Mapping[str, object]) -> list[Any]:
    placeholders = {str(placeholder.this) for placeholder in query.find_all(exp.Placeholder)}
    return connection.execute(dialect.to_sql(query), bind_parameters(placeholders, constants)).fetchall()
